/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the words of `probe` mean: for `probe client --explain`, which picks those of a run, and for
 * `explain`, which is asked for one.
 */
#include <string.h>
#include <strings.h>

#include "cmd/probe/probe_text.h"
#include "probe/coord/two_ended_sizes.h"
#include "probe/traffic/traffic_text.h"

const struct probe_word probe_words[] = {
	{"observe",
	 "RC as applications use it: what is lost is sent again by the NIC. Loss shows in the "
	 "counters of both ends (sequence gaps, NAKs, timeouts), not in the bandwidth"},
	{"strict",
	 "RC that repeats nothing (retry count 0): the first lost packet ends its queue pair "
	 "with a time. Only verbs that need no receive, so that a slow receiver cannot look "
	 "like loss; a lost ACK in mid-stream is covered by the next one and stays unseen"},
	{"count", "UC or UD SENDs of one packet, each with a sequence number: the receiver counts "
		  "exactly what is missing and what came out of order. Nothing is repeated"},
	{"rc",
	 "reliable connection: acknowledged, repeated by the NIC, one queue pair at each end"},
	{"uc", "unreliable connection: no acknowledgement, no repetition"},
	{"ud", "unreliable datagram: a SEND of at most one MTU, to an address handle"},
	{"xrc",
	 "extended reliable connection: RC with a queue pair of its own for each direction, and "
	 "receives in a shared receive queue whose number each request carries. Here each flow "
	 "has a receive queue to itself, so that its order can be checked. Few devices have it; "
	 "on the others it is refused before anything is made. Tested against a stand-in of the "
	 "verbs, not on hardware yet"},
	{"write",
	 "RDMA WRITE: lands in the peer's memory, its CPU is not told. The peer reads it after "
	 "it was granted"},
	{"write_imm",
	 "RDMA WRITE WITH IMMEDIATE: as WRITE, and a completion at the peer that takes a "
	 "receive of it"},
	{"read",
	 "RDMA READ: the data comes in the responses; loss of those is found by the requester"},
	{"send",
	 "SEND: takes a receive of the peer; one that is not posted is an RNR, which is the host "
	 "and not the fabric"},
	{"send_imm", "SEND WITH IMMEDIATE: as SEND, with 4 bytes more in the completion"},
	{"atomic", "FETCH AND ADD of 8 bytes in the peer's memory, answered with the old value"},
	{"none",
	 "bytes are neither made nor looked at: speed alone, which says nothing of identity"},
	{"sampled",
	 "the header of each message (run, flow, slot, sequence, CRC), and every byte of each "
	 "16th"},
	{"every", "every byte of every message"},
	{"raw",
	 "queue pairs are connected by hand with numbers that go over the control connection; the "
	 "ToS is that of the queue pair"},
	{"cm",
	 "queue pairs are connected by rdma_cm, as most programs do; the ToS takes another way "
	 "there, and ToS defaults of the device's configfs count. Each queue pair is asked which "
	 "ToS it has got"},
	{"forward", "the client sends"},
	{"backward", "the server sends"},
	{"both", "both send, on each queue pair"},
	{"sizes",
	 "run after run with messages from the smallest size to the largest, each with queue "
	 "pairs, "
	 "counters and a verdict of its own; the whole has the worst. Below 64 bytes there is no "
	 "room for a header: such messages are counted and not checked"},
	{"latency",
	 "one message under way, sent back by the peer: the time of the round trip, from its "
	 "intended start, no sample left out. A plain WRITE is seen by polling the last byte of "
	 "the "
	 "memory, as ib_write_lat does, whose figure is half of a round trip; others by their "
	 "completions"},
	{"flat out", "as fast as it goes: no pace and no bound on what is under way"},
	{"paced",
	 "the class keeps to its rate. Any millisecond has at most the share of it and one "
	 "message, "
	 "and at most 256 KiB are under way towards one receiver, over all senders and paced "
	 "classes. Time that the sender lost is not caught up; a rate that was not reached is "
	 "reported"},
	{"tcp",
	 "TCP streams of another class beside the RDMA classes, between the same two addresses: a "
	 "port that all share is tested as it is used. A thread of its own moves them. They are "
	 "in no figure of the classes, their bytes are not foreign, and what is dropped of them "
	 "is no RDMA loss; ECN bits are TCP's own"},
	{"memory", "host memory, registered once before the run and released after it; the time of "
		   "registration is not in the figures. R_Keys live for the run and cover the test "
		   "buffers alone"},
	{"registration",
	 "ibv_reg_mr pins the pages of a buffer and tells the device where they are. It is paid "
	 "for "
	 "each page, so that huge pages of 2 MiB make it cheap; a program that registers each "
	 "buffer pays it each time"},
	{"gpu", "buffers are in host memory. What goes from a NIC to a GPU directly, as a dma-buf "
		"that ibv_reg_dmabuf_mr registers, takes another way through PCIe: nothing that is "
		"found here says that it works"},
	{"verbs",
	 "the calls of libibverbs that move a class, in the names of its manual pages. Work "
	 "requests are made once, and posted in lists of which the last one is signaled"},
	{"baseline",
	 "the counters of both ends while nothing is sent, for as long as the run: what moves "
	 "then is somebody else's"},
	{"marking",
	 "UD datagrams of each class, after the traffic: the receiver's NIC hands out the IP "
	 "header "
	 "as it arrived, and answers tell it back. DSCP rewritten, ECT cleared, CE set and loss "
	 "are "
	 "named by direction, class and UDP source port; the way of answers is that of ACKs"},
	{"sweep", "the marking echo of the first class from many UDP source ports: a port that "
		  "always loses lies on a bad member of a link or path group"},
	{.word = NULL},
};

const char *probe_word_meaning(const char *word)
{
	for (const struct probe_word *w = probe_words; w->word; w++)
		if (!strcasecmp(w->word, word))
			return w->meaning;
	return NULL;
}

/* Each word once. */
struct told {
	const char *word[32];
	unsigned int count;
	FILE *out;
};

static void tell(struct told *t, const char *word)
{
	const char *meaning = probe_word_meaning(word);

	for (unsigned int i = 0; i < t->count; i++)
		if (!strcmp(t->word[i], word))
			return;
	if (!meaning || t->count == ARRAY_SIZE(t->word))
		return;
	t->word[t->count++] = word;
	fprintf(t->out, "  %-12s %s.\n", word, meaning);
}

static void explain_class(struct told *t, const struct traffic_class *c)
{
	tell(t, traffic_transport_word(c->transport));
	tell(t, traffic_verb_word(c->verb));
	tell(t, traffic_direction_word(c->direction));
	if (c->probe)
		tell(t, "latency");
	else
		tell(t, c->rate_bytes_per_s ? "paced" : "flat out");
	tell(t, traffic_check_word(c->check));
}

void probe_explain_registration(const struct registration *r, const struct err *why, FILE *out)
{
	static const char *const pages[REGISTRATION_KINDS] = {
		[REGISTRATION_HOST] = "host pages",
		[REGISTRATION_HUGE] = "huge pages of 2 MiB",
	};
	char text[320];

	if (why) {
		fprintf(out, "registration  not measured: %s\n", why->text);
		return;
	}
	for (unsigned int i = 0; i < REGISTRATION_KINDS; i++) {
		probe_time_text(r->ns_per_mib[i], text, sizeof(text));
		if (r->ns_per_mib[i])
			fprintf(out, "registration  %s: %s a MiB in %s\n", r->ibdev, text,
				pages[i]);
		else
			fprintf(out, "registration  %s: not measured in %s: %s\n", r->ibdev,
				pages[i], r->why[i]);
	}
	traffic_memory_gpu(&r->memory, r->ibdev, text, sizeof(text));
	fprintf(out, "%s\n", text);
}

static void explain_sizes(const struct two_ended_wish *w, FILE *out)
{
	uint32_t bytes[SIZES_MAX];
	unsigned int n = two_ended_sizes_list(w->size_from, w->size_to, bytes);
	char from[32], to[32];

	probe_size_text(w->size_from, from, sizeof(from));
	probe_size_text(w->size_to, to, sizeof(to));
	fprintf(out, "sizes    %s to %s: %u runs one after another\n", from, to, n);
}

void probe_explain(const struct two_ended_wish *w, FILE *out)
{
	struct told t = {.out = out};

	fprintf(out, "mode %s, %s, %u thread%s at each end", traffic_mode_word(w->spec.mode),
		w->spec.bringup == TRAFFIC_CM ? "rdma_cm" : "raw verbs", w->spec.threads,
		w->spec.threads == 1 ? "" : "s");
	if (w->spec.duration_ms)
		fprintf(out, ", %.1f s", w->spec.duration_ms / 1e3);
	fputc('\n', out);
	for (unsigned int i = 0; i < w->spec.class_count; i++) {
		char text[200], verbs[400];

		probe_class_text(&w->spec.class[i], text, sizeof(text));
		fprintf(out, "class %u  %s\n", i, text);
		traffic_class_verbs(&w->spec.class[i], verbs, sizeof(verbs));
		fprintf(out, "  by     %s\n", verbs);
	}
	for (unsigned int i = 0; i < w->spec.tcp_count; i++) {
		char text[200];

		traffic_tcp_text(&w->spec.tcp[i], text, sizeof(text));
		fprintf(out, "TCP %u    %s\n", i, text);
	}
	if (w->size_from)
		explain_sizes(w, out);
	fputs("\n", out);
	tell(&t, traffic_mode_word(w->spec.mode));
	tell(&t, w->spec.bringup == TRAFFIC_CM ? "cm" : "raw");
	for (unsigned int i = 0; i < w->spec.class_count; i++)
		explain_class(&t, &w->spec.class[i]);
	if (w->spec.tcp_count)
		tell(&t, "tcp");
	if (w->size_from)
		tell(&t, "sizes");
	tell(&t, "verbs");
	tell(&t, "memory");
	tell(&t, "registration");
	tell(&t, "gpu");
	if (w->idle_ms)
		tell(&t, "baseline");
	if (w->marking || w->sweep)
		tell(&t, "marking");
	if (w->sweep)
		tell(&t, "sweep");
}
