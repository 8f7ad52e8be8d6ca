/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the frames of a batch are about to need, for all of them at once: of many flows it is
 * far away, and one after the other they would wait for it.
 */
#include "capture/flow/skim.h"

#define FEW_FLOWS 4096 /* fit into the cache that is near */

/* The other way, and all of the flow when the frame goes the long way. One without a flow may begin
 * one: `next` is where. */
static void fetch_far(const struct flow_table *t, const struct skim *k, uint32_t next)
{
	uint32_t id = k->id ? k->id - 1 : next;
	const struct flow_run *run = &t->run[id];
	bool far = !k->id || (run->takes & k->needs) != k->needs;

	if (!k->id)
		flow_fetch(run, sizeof(*run));
	else if ((far || k->needs & TAKES_RESPONSE) && run->peer < t->count)
		flow_fetch(&t->run[run->peer], sizeof(*run));
	if (far || run->peer == PAIR_NONE)
		flow_fetch(&t->entry[id], sizeof(t->entry[id]));
}

void skim_fetch(const struct skim_batch *b, const struct flow_table *t)
{
	uint32_t next = t->count;

	if (t->count <= FEW_FLOWS)
		return;
	for (unsigned int i = 0; i < b->count; i++)
		if (b->skim[i].needs && (b->skim[i].id || next < t->room))
			fetch_far(t, &b->skim[i], b->skim[i].id ? 0 : next++);
}
