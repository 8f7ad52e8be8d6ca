/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the incast or the negative control of a run did at one port.
 */
#ifndef REPORTS_CHECK_INCAST_H
#define REPORTS_CHECK_INCAST_H

#include "reports/engine/port_ctx.h"

struct incast_port {
	unsigned int received, sent;   /* pairs that ran, to and from the port */
	const struct run_pair *failed; /* one that did not */
	uint8_t prios;
	uint64_t losses;	 /* of packets to the port */
	uint64_t lost_by_others; /* of packets from it */
	uint64_t bytes;		 /* that arrived */
};

void incast_gather(const struct port_ctx *s, enum run_phase phase, struct incast_port *in);

/* Pauses that the port received on these priorities from the reading `first` to the next one. False
 * when it does not count them. */
bool incast_pauses(const struct port_ctx *s, enum run_reading first, uint8_t prios,
		   uint64_t *count);

/* Packets with CE that the port received in the phase after this reading; 0 when not counted. */
uint64_t incast_marks(const struct port_ctx *s, enum run_reading first);

/* Sets the verdict of a port that received in an incast: lost, lossless, or not put to the test.
 * False when there was no incast to it. */
bool incast_check_loss(const struct port_ctx *s, struct findings *out);

#endif
