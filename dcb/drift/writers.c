/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds writers by their process names (linux Documentation/filesystems/proc.rst: comm, stat field
 * 22). A script has the name of its file, so mlnx_qos, which is Python, is found, too.
 */
#include "dcb/drift/writers.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/backend.h"
#include "profiles/base/process.h"
#include "profiles/base/small_file.h"

#define BIT(id)	  QOS_BIT(QOS_##id)
#define PAUSE	  (BIT(PAUSE_AUTONEG) | BIT(PAUSE_RX) | BIT(PAUSE_TX))
#define RDMA_CM	  (BIT(ROCE_VERSION) | BIT(CM_TOS))
#define STARTTIME 22

/* One row per program: the fields that it can set. */
static const struct program {
	const char *name;
	bool dcbnl;	 /* all fields of dcbnl */
	uint64_t fields; /* and these */
	bool anything;
} programs[] = {
	{"lldpad", .dcbnl = true},
	{"lldptool", .dcbnl = true},
	{"dcb", .dcbnl = true},
	{"dcbtool", .dcbnl = true},
	{"mlnx_qos", .dcbnl = true, .fields = PAUSE},
	{"niccli", .anything = true},
	{"bnxtqos", .dcbnl = true},
	{"nicctl", .anything = true},
	{"mlxreg", .anything = true},
	{"mlxconfig", .anything = true},
	{"devlink", .anything = true},
	{"modprobe", .anything = true},
	{"rmmod", .anything = true},
	{"ethtool", .dcbnl = true, .fields = PAUSE}, /* firmware's LLDP by private flags */
	{"ip", .fields = BIT(MTU) | BIT(IB_MTU)},
	{"ifconfig", .fields = BIT(MTU) | BIT(IB_MTU)},
	{"ifup", .fields = BIT(MTU) | BIT(IB_MTU)},
	{"NetworkManager", .fields = BIT(MTU) | BIT(IB_MTU) | PAUSE},
	{"systemd-network", .fields = BIT(MTU) | BIT(IB_MTU) | PAUSE}, /* truncated by the kernel */
	{"cma_roce_mode", .fields = RDMA_CM},
	{"cma_roce_tos", .fields = RDMA_CM},
	{"rocecheck", .anything = true},
};

static const struct program *writer_program_find(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

static uint64_t writer_program_fields(const struct program *p)
{
	if (p->anything)
		return UINT64_MAX;
	return p->fields | (p->dcbnl ? dcb_dcbnl_fields() : 0);
}

/* Returns the boot time of the host; 0 = unknown. */
static time_t writer_boot_time(const char *proc)
{
	time_t when;
	char text[32];

	small_file_value(text, sizeof(text), "btime ", proc, "stat");
	when = strtoll(text, NULL, 10);
	return when > 0 ? when : 0;
}

/* Counts fields after the name, which may contain blanks and brackets. */
static time_t writer_start_time(const char *proc, const char *pid)
{
	long ticks = sysconf(_SC_CLK_TCK);
	time_t boot = writer_boot_time(proc);
	char line[1024], *at, *end;
	long long value;

	small_file_line(line, sizeof(line), proc, "%.20s/stat", pid);
	at = strrchr(line, ')');
	for (int field = 2; at && field < STARTTIME; field++)
		at = strchr(at + 1, ' ');
	if (!at || !boot || ticks <= 0)
		return 0;
	value = strtoll(at, &end, 10);
	return end == at || value < 0 ? 0 : boot + value / ticks;
}

static bool writer_is_known(const struct drift_writers *s, pid_t pid)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->writer[i].pid == pid)
			return true;
	return false;
}

static void writer_add_process(const char *proc, const char *name, struct drift_writers *s)
{
	pid_t pid = strtol(name, NULL, 10);
	const struct program *p;
	char comm[32];

	small_file_line(comm, sizeof(comm), proc, "%.20s/comm", name);
	p = writer_program_find(comm);
	if (!p || writer_is_known(s, pid) || !process_same_net(proc, name))
		return;
	s->writer[s->count] = (struct drift_writer){.fields = writer_program_fields(p),
						    .pid = pid,
						    .started = writer_start_time(proc, name)};
	snprintf(s->writer[s->count++].name, sizeof(s->writer[0].name), "%s", p->name);
}

void writers_add(const char *proc, struct drift_writers *s)
{
	struct dirent *d;
	DIR *dir;

	if (!proc)
		proc = "/proc";
	dir = opendir(proc);
	while (dir && s->count < DRIFT_WRITERS_MAX && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			writer_add_process(proc, d->d_name, s);
	if (dir)
		closedir(dir);
}

void writers_filter(struct drift_writers *s, uint64_t fields)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < s->count; i++)
		if (s->writer[i].fields & fields && s->writer[i].pid != getpid())
			s->writer[kept++] = s->writer[i];
	s->count = kept;
}
