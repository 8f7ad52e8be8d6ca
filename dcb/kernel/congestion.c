/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes the files of congestion_files.c. Broadcom's configfs collects values until a
 * commit; module parameters show load-time values.
 */
#include "dcb/kernel/congestion_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/sysfs.h"

#define PATH_LENGTH 320

uint64_t congestion_fields(void)
{
	uint64_t fields = 0;

	for (unsigned int i = 0; i < congestion_file_count; i++)
		fields |= QOS_BIT(congestion_files[i].field);
	return fields;
}

/* Returns true when the RDMA device belongs to a driver of the folder. */
static bool congestion_has_driver(const struct congestion_port *port,
				  const struct congestion_folder *place)
{
	char path[PATH_LENGTH], driver[32];

	if (!sysfs_is_element(port->ibdev))
		return false;
	snprintf(path, sizeof(path), "class/infiniband/%.63s/device/driver", port->ibdev);
	if (!sysfs_link_name(port->sysfs, path, driver, sizeof(driver)))
		return false;
	for (const char *const *one = place->drivers; *one; one++)
		if (!strcmp(*one, driver))
			return true;
	return false;
}

/* Builds the path of a file; sub: "" or the number of a priority. Returns the root of the path, or
 * -errno. */
static int congestion_path(const struct congestion_port *port,
			   const struct congestion_folder *place, const char *file, const char *sub,
			   char path[PATH_LENGTH])
{
	const int roots[] = {
		[CC_SYSFS] = port->sysfs,
		[CC_DEBUGFS] = port->debugfs,
		[CC_CONFIGFS] = port->configfs,
	};
	const char *const names[] = {
		[CC_BY_NETDEV] = port->ifname,	   [CC_BY_BUS] = port->bus,
		[CC_BY_IBDEV] = port->ibdev,	   [CC_BY_IB_PORT] = port->ibdev,
		[CC_BY_MODULE] = place->load_time,
	};
	const char *name = names[place->name];
	int root = roots[place->tree];
	char number[16] = "";

	if (root < 0 || !sysfs_is_element(name) ||
	    (place->load_time && !congestion_has_driver(port, place)))
		return -ENOENT;
	if (place->name == CC_BY_IB_PORT)
		snprintf(number, sizeof(number), "%u", port->ib_port);
	if (snprintf(path, PATH_LENGTH, "%s%s%s%s/%s%s%s", place->before, name, place->after,
		     number, file, sub[0] ? "/" : "", sub) >= PATH_LENGTH)
		return -ENAMETOOLONG;
	return root;
}

static int congestion_read_text(const struct congestion_port *port,
				const struct congestion_file *row, const char *sub, char *text,
				size_t size)
{
	char path[PATH_LENGTH];
	int root = congestion_path(port, &congestion_folders[row->folder], row->file, sub, path);
	ssize_t n = root < 0 ? root : sysfs_read(root, path, text, size);

	return n < 0 ? (int)n : 0;
}

/* Parses a whole number in C notation without trailing characters. */
static int congestion_parse_number(const char *text, uint32_t *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || (*end && *end != '\n') || number > UINT32_MAX || text[0] == '-')
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

static int congestion_read_bits(const struct congestion_port *port,
				const struct congestion_file *row, uint32_t *value)
{
	uint32_t bits = 0, one;
	char text[64], sub[4];

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		int err;

		snprintf(sub, sizeof(sub), "%u", prio);
		err = congestion_read_text(port, row, sub, text, sizeof(text));
		if (!err)
			err = congestion_parse_number(text, &one);
		if (err || one > 1)
			return err ? err : -EINVAL;
		bits |= one << prio;
	}
	*value = bits;
	return 0;
}

static int congestion_parse_tos(const char *text, uint32_t *value)
{
	static const char key[] = "Global tclass=";
	const char *at = strstr(text, key);

	*value = 0;
	return at ? congestion_parse_number(at + sizeof(key) - 1, value) : 0;
}

static int congestion_read_file(const struct congestion_port *port,
				const struct congestion_file *row, uint32_t *value)
{
	char text[256];
	int err;

	if (row->form == CC_BITS)
		return congestion_read_bits(port, row, value);
	err = congestion_read_text(port, row, "", text, sizeof(text));
	if (err)
		return err;
	if (row->form == CC_OFED_TOS)
		return congestion_parse_tos(text, value);
	/* Bool module parameters: Y or N. */
	if (congestion_folders[row->folder].load_time && (text[0] == 'Y' || text[0] == 'N') &&
	    (!text[1] || text[1] == '\n')) {
		*value = text[0] == 'Y';
		return 0;
	}
	return congestion_parse_number(text, value);
}

/* Stores the value in the field, if it is in the field's range. */
static bool congestion_to_qos(struct qos *q, const struct congestion_file *row, uint32_t value)
{
	const struct qos_field *f = &qos_fields[row->field];

	if (row->field == QOS_CC_PARAMS) {
		qos_param_set(&q->cc_params, row->index, value);
		return true;
	}
	if (row->form == CC_SWITCH)
		value = value ? row->index : (uint32_t)QOS_CC_OFF;
	if (row->form == CC_BITS ? value > 0xff : value < f->min || value > f->max)
		return false;
	if (f->kind == QOS_KIND_U32)
		*(uint32_t *)qos_slot(q, f) = value;
	else
		*(uint8_t *)qos_slot(q, f) = (uint8_t)value;
	return true;
}

/* Returns true when an earlier row has the value. Of switches the one that is on counts; a
 * load-time parameter counts only without a current value. */
static bool congestion_is_known(const struct qos *q, const struct congestion_file *row)
{
	if (!qos_has(q, row->field))
		return false;
	if (row->field == QOS_CC_PARAMS)
		return qos_param_has(&q->cc_params, row->index);
	return row->form != CC_SWITCH || q->cc_algorithm != QOS_CC_OFF ||
	       congestion_folders[row->folder].load_time;
}

void congestion_read(const struct congestion_port *port, struct qos *q)
{
	uint32_t value;

	memset(&q->cc_params, 0, sizeof(q->cc_params));
	q->has &= ~congestion_fields();
	for (unsigned int i = 0; i < congestion_file_count; i++) {
		const struct congestion_file *row = &congestion_files[i];

		if (!congestion_is_known(q, row) && !congestion_read_file(port, row, &value) &&
		    congestion_to_qos(q, row, value))
			q->has |= QOS_BIT(row->field);
	}
}

static int congestion_write_text(const struct congestion_port *port,
				 const struct congestion_folder *place, const char *file,
				 const char *sub, const char *text)
{
	char path[PATH_LENGTH];
	int root = congestion_path(port, place, file, sub, path);

	return root < 0 ? root : sysfs_write(root, path, text);
}

static int congestion_write_number(const struct congestion_port *port,
				   const struct congestion_file *row, const char *sub,
				   uint32_t value)
{
	const struct congestion_folder *place = &congestion_folders[row->folder];
	char text[16];

	if (row->form == CC_OFED_TOS && !value)
		snprintf(text, sizeof(text), "-1");
	else
		snprintf(text, sizeof(text), place->hexadecimal ? "0x%x" : "%u", value);
	return congestion_write_text(port, place, row->file, sub, text);
}

/* Returns the value that q has for a row's file; false: none. */
static bool congestion_wanted(const struct qos *q, const struct congestion_file *row,
			      uint32_t *value)
{
	const struct qos_field *f = &qos_fields[row->field];

	if (row->field == QOS_CC_PARAMS) {
		*value = q->cc_params.value[row->index];
		return qos_param_has(&q->cc_params, row->index);
	}
	if (row->form == CC_SWITCH)
		*value = q->cc_algorithm == row->index;
	else if (f->kind == QOS_KIND_U32)
		*value = *(const uint32_t *)qos_member(q, f);
	else
		*value = *(const uint8_t *)qos_member(q, f);
	return true;
}

/* The file may also have rules for single destinations, which a new value may delete. */
static int congestion_check_tos_rules(const struct congestion_port *port,
				      const struct congestion_file *row)
{
	char text[256];
	int err = congestion_read_text(port, row, "", text, sizeof(text));

	return err ? err : strstr(text, "dst_ip") || strstr(text, "src_ip") ? -EBUSY : 0;
}

static int congestion_write_file(const struct congestion_port *port,
				 const struct congestion_file *row, uint32_t now, uint32_t value)
{
	char sub[4];
	int err = 0;

	if (row->form == CC_OFED_TOS)
		err = congestion_check_tos_rules(port, row);
	if (err)
		return err;
	if (row->form != CC_BITS)
		return congestion_write_number(port, row, "", value);
	for (unsigned int prio = 0; !err && prio < QOS_PRIOS; prio++) {
		if (!((now ^ value) & 1u << prio))
			continue;
		snprintf(sub, sizeof(sub), "%u", prio);
		err = congestion_write_number(port, row, sub, value >> prio & 1);
	}
	return err;
}

/* Writes the rows of one field; each value goes to the first file that has it. */
static int congestion_write_field(const struct congestion_port *port, const struct qos *q,
				  enum qos_field_id field, struct err *e)
{
	const struct congestion_folder *commit = NULL;
	bool done[QOS_PARAM_COUNT] = {false}, any = false;
	int err = 0;

	for (unsigned int i = 0; !err && i < congestion_file_count; i++) {
		const struct congestion_file *row = &congestion_files[i];
		const struct congestion_folder *place = &congestion_folders[row->folder];
		uint32_t now, value;

		if (row->field != field || done[row->index] || !congestion_wanted(q, row, &value) ||
		    congestion_read_file(port, row, &now))
			continue;
		any = done[row->index] = true;
		if (now == value)
			continue;
		err = place->load_time ? -EROFS : congestion_write_file(port, row, now, value);
		if (place->commit)
			commit = place;
	}
	if (!err && commit)
		err = congestion_write_text(port, commit, commit->commit, "", "0x1");
	if (err)
		return err_sys(e, err, "%s: %s", port->ifname, qos_fields[field].key);
	return any ? 0
		   : err_set(e, -EOPNOTSUPP, "%s: the driver does not support %s", port->ifname,
			     qos_fields[field].key);
}

int congestion_write(const struct congestion_port *port, const struct qos *q, uint64_t mask,
		     struct err *e)
{
	int err = 0;

	for (int id = 0; !err && id < QOS_FIELD_COUNT; id++)
		if (mask & QOS_BIT(id))
			err = congestion_write_field(port, q, id, e);
	return err;
}

/* Returns true when the driver would show the files if the configfs folder of the device existed.
 */
static bool congestion_lacks_folder(const struct congestion_port *port,
				    const struct congestion_folder *place)
{
	char path[PATH_LENGTH];

	if (!place->made_in || port->configfs < 0 || !congestion_has_driver(port, place) ||
	    faccessat(port->configfs, place->made_in, F_OK, 0))
		return false;
	snprintf(path, sizeof(path), "%s/%.63s", place->made_in, port->ibdev);
	return faccessat(port->configfs, path, F_OK, 0) != 0;
}

/* "fw_service_prof_type_sup : 1" in bnxt_re's debugfs: the firmware sets priorities and DSCPs. */
static bool congestion_has_profile(const struct congestion_port *port)
{
	static const char key[] = "fw_service_prof_type_sup";
	char path[PATH_LENGTH], text[4096];
	const char *at;

	if (!sysfs_is_element(port->ibdev))
		return false;
	snprintf(path, sizeof(path), "bnxt_re/%.63s/info", port->ibdev);
	if (sysfs_read(port->debugfs, path, text, sizeof(text)) < 0)
		return false;
	at = strstr(text, key);
	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t:=");
	return *at == '1';
}

bool congestion_set_elsewhere(const struct congestion_port *port, const struct qos *want,
			      enum qos_field_id field, char *reason, size_t size)
{
	bool done[QOS_PARAM_COUNT] = {false};
	uint32_t now, value;

	for (unsigned int i = 0; i < congestion_file_count; i++) {
		const struct congestion_file *row = &congestion_files[i];
		const struct congestion_folder *place = &congestion_folders[row->folder];

		if (row->field != field || done[row->index] ||
		    !congestion_wanted(want, row, &value))
			continue;
		if (congestion_lacks_folder(port, place)) {
			snprintf(reason, size,
				 "%s shows it only in a configfs folder of its device: mkdir "
				 "/sys/kernel/config/%s/%s",
				 place->made_in, place->made_in, port->ibdev);
			return true;
		}
		if (congestion_read_file(port, row, &now))
			continue;
		done[row->index] = true;
		if (now == value)
			continue;
		if (place->load_time)
			snprintf(reason, size,
				 "%s reads it only when it is loaded: put 'options %s %s=%u' in "
				 "/etc/modprobe.d and reload the driver",
				 place->load_time, place->load_time, row->file, value);
		else if (row->profiled && congestion_has_profile(port))
			snprintf(reason, size,
				 "the service profile of the firmware derives it from app.dscp and "
				 "pfc.enabled");
		else
			continue;
		return true;
	}
	return false;
}

/* securityfs: "none [integrity] confidentiality"; any but none blocks debugfs, lockdown(7). */
static bool congestion_locked_down(int sysfs)
{
	char text[64];

	return sysfs_read(sysfs, "kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       !strstr(text, "[none]");
}

const char *congestion_hidden_reason(const struct congestion_port *port)
{
	if (port->debugfs < 0)
		return "debugfs is not mounted or not readable by this user";
	return congestion_locked_down(port->sysfs) ? "kernel lockdown blocks debugfs" : "";
}
