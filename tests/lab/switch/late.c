/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that come late on purpose, or are on the wire of a port with latency: a heap ordered by
 * time, and by age among equals.
 */
#include "tests/lab/switch/switch.h"

static bool earlier(const struct frame *a, const struct frame *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

void late_add(struct lab *lab, struct port *p, enum fault_direction direction, uint64_t due_ns,
	      struct frame *f)
{
	unsigned int at = lab->late_count++;

	buffer_release(lab, f); /* it has left the buffer, whatever becomes of it */
	f->due_ns = due_ns;
	f->seq = lab->late_seq++;
	f->late_port = lab_port_index(lab, p);
	f->late_direction = direction;
	for (; at && earlier(f, lab->late[(at - 1) / 2]); at = (at - 1) / 2)
		lab->late[at] = lab->late[(at - 1) / 2];
	lab->late[at] = f;
}

static struct frame *take_earliest(struct lab *lab)
{
	struct frame *first = lab->late[0], *last = lab->late[--lab->late_count];
	unsigned int at = 0;

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= lab->late_count)
			break;
		if (child + 1 < lab->late_count && earlier(lab->late[child + 1], lab->late[child]))
			child++;
		if (!earlier(lab->late[child], last))
			break;
		lab->late[at] = lab->late[child];
		at = child;
	}
	lab->late[at] = last;
	return first;
}

void late_go_on(struct lab *lab, struct port *p, enum fault_direction direction, struct frame *f)
{
	if (direction == FAULT_IN)
		forward_frame(lab, p, f);
	else if (direction == FAULT_OUT)
		port_put(lab, p, f);
	else
		port_deliver(lab, p, f);
}

void late_release(struct lab *lab)
{
	uint64_t end = lab->late_seq; /* what comes in meanwhile waits for the next round */

	while (lab->late_count && lab->late[0]->due_ns <= lab->now_ns && lab->late[0]->seq < end) {
		struct frame *f = take_earliest(lab);

		late_go_on(lab, &lab->port[f->late_port], f->late_direction, f);
	}
}
