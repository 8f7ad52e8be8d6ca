/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of a transaction, as a crash or a bad disk may leave it: what is taken has no index
 * beyond its arrays, and values that can be restored. An input is the file.
 */
#include <errno.h>

#include "dcb/apply/journal.h"
#include "tests/fuzz/mutate.h"

#define ID "20260101-000000-1"

FUZZ_MUTATE(json_lines)

static void check_qos(const struct qos *q)
{
	json_t *o = qos_to_json(q);
	struct qos back = {0};
	struct err e = {0};

	HOLDS(o);
	if (qos_from_json(o, &back, &e))
		fuzz_broken(__FILE__, __LINE__, e.text);
	HOLDS(!qos_diff(q, &back) && !qos_diff(&back, q));
	json_decref(o);
}

static void check_text(const char *text, size_t size)
{
	HOLDS(memchr(text, 0, size));
}

static void check_tx(const struct tx *tx)
{
	HOLDS(tx_state_word(tx->state));
	HOLDS(!tx->port_count || tx->port);
	HOLDS(tx->step_count <= JOURNAL_STEPS_MAX);
	check_text(tx->time, sizeof(tx->time));
	for (unsigned int i = 0; i < tx->port_count; i++) {
		check_text(tx->port[i].ifname, sizeof(tx->port[i].ifname));
		check_text(tx->port[i].ibdev, sizeof(tx->port[i].ibdev));
		check_text(tx->port[i].driver, sizeof(tx->port[i].driver));
		check_qos(&tx->port[i].before);
		check_qos(&tx->port[i].live);
		if (tx->port[i].has_after)
			check_qos(&tx->port[i].after);
	}
	for (unsigned int i = 0; i < tx->step_count; i++) {
		HOLDS(tx->step[i].port < tx->port_count);
		HOLDS(!(tx->step[i].fields >> QOS_FIELD_COUNT));
		check_qos(&tx->step[i].to);
	}
}

/* Its first line is that of a transaction's beginning, as JSON. */
static bool is_parsed(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	json_t *o = end ? json_loadb((const char *)data, (size_t)(end - data),
				     JSON_REJECT_DUPLICATES, NULL)
			: NULL;
	bool parsed = json_is_object(o);

	json_decref(o);
	return parsed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tx tx;
	struct err e = {0};
	struct state s;
	int err;

	fuzz_begin();
	if (is_parsed(data, size))
		fuzz_reach(FUZZ_PARSED);
	fuzz_file("tx/" ID "/journal", data, size);
	HOLDS(!state_open(&(struct state_at){fuzz_folder(), fuzz_folder()}, &s, &e));
	err = journal_read(&s, ID, &tx, &e);
	state_close(&s);
	if (err) {
		HOLDS(err < 0 && *e.text && memchr(e.text, 0, sizeof(e.text)));
		HOLDS(!tx.port && !tx.step);
		return 0;
	}
	fuzz_reach(FUZZ_TAKEN);
	check_tx(&tx);
	(void)tx_waits(&tx);
	tx_clear(&tx);
	return 0;
}
