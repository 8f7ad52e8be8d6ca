/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Continues the run of a folder. The phase is the unit: one that ran to its end with every host is
 * kept, the others run anew. Nothing is kept when a host has booted since or has other settings:
 * its counters and results are then those of another fabric.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/coord/phase_priv.h"
#include "profiles/profile_json.h"

static void resume_sum_text(uint64_t hash, char sum[20])
{
	snprintf(sum, 20, "%016" PRIx64, hash);
}

static int resume_sum_profile(const struct profile *p, char sum[20])
{
	json_t *doc = profile_to_json(p);
	char *text;

	/* The same profile can lie elsewhere, and have other comments. */
	json_object_del(doc, "path");
	json_object_del(doc, "lines");
	text = json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(doc);
	if (!text)
		return -ENOMEM;
	resume_sum_text(fnv1a(FNV1A_START, text, strlen(text)), sum);
	free(text);
	return 0;
}

/* Adds the schedule: the content of its file, or else its name. */
static uint64_t resume_hash_schedule(const struct fabric *f, uint64_t hash)
{
	const char *name = f->schedule ? f->schedule : "";
	char *text = NULL;
	size_t size;

	if (phase_schedule_read(name, &text, &size))
		return fnv1a(hash, name, strlen(name));
	hash = fnv1a(hash, text, size);
	free(text);
	return hash;
}

static void resume_sum_thresholds(const struct fabric *f, char sum[20])
{
	const unsigned int values[] = {f->quiet_s, f->traffic_s, f->load_percent,  f->message_bytes,
				       f->capture, f->tcp_count, f->incast_senders};
	uint64_t hash = fnv1a(FNV1A_START, values, sizeof(values));

	for (unsigned int i = 0; i < f->tcp_count; i++) {
		const unsigned int tcp[] = {f->tcp[i].tos, f->tcp[i].streams, f->tcp[i].rate_kbps,
					    f->tcp[i].direction};

		hash = fnv1a(hash, tcp, sizeof(tcp));
	}
	resume_sum_text(resume_hash_schedule(f, hash), sum);
}

int resume_set_sums(struct run *r, const struct fabric *f)
{
	resume_sum_thresholds(f, r->thresholds_sum);
	return resume_sum_profile(&f->profile, r->profile_sum);
}

static int resume_check_host(const struct run_host *old, const struct run_host *h, struct err *e)
{
	if (strcmp(old->name, h->name) != 0)
		return err_set(e, -EINVAL, "the inventory has host '%s' where that run has '%s'",
			       h->name, old->name);
	for (unsigned int p = 0; p < h->port_count && p < old->port_count; p++)
		if (strcmp(old->port[p].netdev, h->port[p].netdev) != 0 ||
		    old->port[p].rail != h->port[p].rail)
			return err_set(e, -EINVAL,
				       "host '%s': the inventory has port %s on rail %u where that "
				       "run has %s on rail %u",
				       h->name, h->port[p].netdev, h->port[p].rail,
				       old->port[p].netdev, old->port[p].rail);
	if (old->port_count != h->port_count)
		return err_set(e, -EINVAL,
			       "host '%s': the inventory has %u port%s, that run has %u", h->name,
			       h->port_count, plural(h->port_count), old->port_count);
	return 0;
}

/* r: the new run, with its digests. */
static int resume_check(const struct run *old, const struct run *r, struct err *e)
{
	int err = 0;

	if (!old->profile_sum[0])
		return err_set(
			e, -EINVAL,
			"run.json is not from a run of this version: it cannot be continued");
	for (unsigned int i = 0; !err && i < old->host_count && i < r->host_count; i++)
		err = resume_check_host(&old->host[i], &r->host[i], e);
	if (err)
		return err;
	if (old->host_count != r->host_count)
		return err_set(e, -EINVAL, "the inventory has %u host%s, that run has %u",
			       r->host_count, plural(r->host_count), old->host_count);
	if (strcmp(old->profile_sum, r->profile_sum) != 0)
		return err_set(e, -EINVAL,
			       "that run was of another profile, or of another version "
			       "of this profile");
	if (old->level != r->level || old->maintenance != r->maintenance)
		return err_set(e, -EINVAL,
			       "that run had another --level or --maintenance (level %s)",
			       qos_word_text(fabric_level_words, old->level));
	if (strcmp(old->thresholds_sum, r->thresholds_sum) != 0)
		return err_set(
			e, -EINVAL,
			"that run had another --schedule, or other 'thresholds' or 'capture' "
			"in its inventory");
	return 0;
}

int run_resume_load(const char *dir, const struct fabric *f, const struct run *r,
		    struct run *earlier, struct err *e)
{
	struct run old, new = *r;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/run.json", dir) >= (int)sizeof(path))
		return err_sys(e, -ENAMETOOLONG, "%s", dir);
	if (access(path, F_OK)) {
		err = err_sys(e, -errno, "%s", path);
		err_hint(e, "name the folder of a run that was interrupted");
		return err;
	}
	if (resume_set_sums(&new, f))
		return err_sys(e, -ENOMEM, "run");
	err = run_load(dir, NULL, &old, e);
	if (err)
		return err;
	err = resume_check(&old, &new, e);
	if (err) {
		err_prefix(e, "%s", dir);
		err_hint(e, "give the same inventory, profile and options, or begin a new run "
			    "without --resume");
		run_clear(&old);
		return err;
	}
	*earlier = old;
	return 0;
}

static void resume_move_port(struct run_port *to, struct run_port *from, unsigned int stages)
{
	for (unsigned int i = 0; i < STAGES; i++) {
		enum run_reading before = phases[i].before;

		if (!(stages & 1u << i) || before == READ_COUNT)
			continue;
		to->reading[before] = from->reading[before];
		to->reading[before + 1] = from->reading[before + 1];
		to->has |= from->has & (3u << before);
	}
	if (!(stages & 1u << STAGE_PAIRS))
		return;
	to->has_capture = from->has_capture;
	to->capture = from->capture;
	from->has_capture = false;
	memcpy(to->capture_file, from->capture_file, sizeof(to->capture_file));
	memcpy(to->capture_error, from->capture_error, sizeof(to->capture_error));
}

/* Moves the data of complete phases, once. A second pass is left out: it follows from all phases,
 * and runs again. */
static void resume_move(struct run *r, struct run *old)
{
	unsigned int stages = old->stages, pairs = 0;

	if (!stages)
		return;
	for (unsigned int i = 0; i < STAGES; i++)
		pairs |= stages & 1u << i ? phases[i].pairs : 0;
	for (unsigned int i = 0; i < old->pair_count; i++)
		if (pairs & 1u << old->pair[i].phase)
			old->pair[r->pair_count++] = old->pair[i];
		else
			run_pair_clear(&old->pair[i]);
	for (unsigned int i = 0; i < old->marking_count; i++)
		if (stages & 1u << STAGE_MARKING && !old->marking[i].pass)
			old->marking[r->marking_count++] = old->marking[i];
		else
			free(old->marking[i].finding);
	for (unsigned int i = 0; i < r->host_count; i++)
		for (unsigned int p = 0; p < r->host[i].port_count; p++)
			resume_move_port(&r->host[i].port[p], &old->host[i].port[p], stages);
	r->pair = old->pair;
	r->marking = old->marking;
	r->stages = stages;
	old->pair = NULL;
	old->marking = NULL;
	old->pair_count = old->marking_count = old->stages = 0;
}

void resume_begin(struct coordinator *c)
{
	memcpy(c->s.r->id, c->earlier->id, sizeof(c->s.r->id));
	c->s.r->started_unix_ns = c->earlier->started_unix_ns;
	c->s.r->traffic = c->earlier->traffic;
}

/* Returns true if a host differs from that of the earlier run, and reports it. */
static bool resume_host_differs(const struct coordinator *c, unsigned int host)
{
	const struct run_host *h = &c->s.r->host[host], *old = &c->earlier->host[host];

	if (!h->has_before || !old->has_before)
		return false;
	if (strcmp(h->boot_id, old->boot_id) != 0) {
		session_notice(&c->s, "%s: the host has booted since: all phases run again",
			       h->name);
		return true;
	}
	for (unsigned int p = 0; p < h->port_count; p++) {
		const struct port *a = snapshot_port(&old->before, h->port[p].netdev);
		const struct port *b = snapshot_port(&h->before, h->port[p].netdev);
		bool differs = !a != !b;

		if (a && b)
			differs = (qos_diff(&a->qos, &b->qos) | qos_diff(&b->qos, &a->qos)) &
				  a->qos.has & b->qos.has;
		if (!differs)
			continue;
		session_notice(&c->s, "%s %s: settings changed since: all phases run again",
			       h->name, h->port[p].netdev);
		return true;
	}
	return false;
}

void resume_check_same(struct coordinator *c)
{
	unsigned int kept = c->earlier->stages;

	for (unsigned int i = 0; kept && i < c->s.r->host_count; i++)
		if (resume_host_differs(c, i))
			kept = c->earlier->stages = 0;
	resume_move(c->s.r, c->earlier);
	c->stages &= ~kept;
	c->s.r->continued = c->s.r->continued || kept;
	for (unsigned int i = 0; i < STAGES; i++)
		if (kept & 1u << i)
			session_notice(&c->s, "phase %s: kept from the earlier run",
				       qos_word_text(run_stage_words, i));
}

void resume_end(struct coordinator *c)
{
	struct run *r = c->s.r;

	resume_move(r, c->earlier); /* unless it was, or the hosts are no longer the same */
	for (unsigned int i = 0; i < r->host_count; i++) {
		struct run_host *h = &r->host[i], *old = &c->earlier->host[i];

		if (h->has_before || !old->has_before)
			continue;
		h->before = old->before;
		h->has_before = true;
		old->has_before = false;
		memcpy(h->boot_id, old->boot_id, sizeof(h->boot_id));
	}
}
