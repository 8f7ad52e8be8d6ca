/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLDP with the TLVs of IEEE, CEE and CIN: as lldpad hands them over, as a frame, and as the lab's
 * switch takes them, which answers. An input is several advertisements of one link, each
 *
 *   | length 16 | TLVs |
 */
#include <sanitizer/asan_interface.h>

#include "capture/decode/lldp.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lab/switch/switch.h"

#define HEAD_LEN     2
#define ETHERNET_LEN 14

static void check_text(const char *text, size_t size)
{
	HOLDS(memchr(text, 0, size));
	for (; *text; text++)
		HOLDS(*text >= ' ' && *text <= '~');
}

/* Only values in their range are taken, so all of them come back from JSON. */
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

static void check_peer(const struct lldp_peer *p)
{
	check_text(p->chassis, sizeof(p->chassis));
	check_text(p->system, sizeof(p->system));
	check_text(p->port, sizeof(p->port));
	check_text(p->dialect, sizeof(p->dialect));
	HOLDS(p->neighbours <= LLDP_HEARD_MAX);
	check_qos(&p->qos);
	check_qos(&p->recommended);
}

static void check_result(int got, const struct err *e, const struct lldp_peer *before,
			 const struct lldp_peer *p)
{
	if (got) {
		HOLDS(got < 0 && *e->text && memchr(e->text, 0, sizeof(e->text)));
		HOLDS(!memcmp(before, p, sizeof(*p)));
	} else {
		HOLDS(p->seen);
		check_peer(p);
	}
}

static void take_tlvs(const uint8_t *tlvs, uint32_t len, struct lldp_peer *p)
{
	uint8_t *exact = fuzz_exact(tlvs, len);
	struct lldp_peer before = *p;
	struct err e = {0};

	check_result(lldp_decode_tlvs(exact, len, p, &e), &e, &before, p);
	free(exact);
}

/* As the switch holds it, with nothing behind the frame that could be read. */
static void make_frame(const uint8_t *tlvs, uint32_t len, struct frame *f)
{
	static const uint8_t head[ETHERNET_LEN] = {0x01, 0x80, 0xc2, 0, 0, 0x0e, 2,
						   0,	 0,    0,    0, 1, 0x88, 0xcc};

	ASAN_UNPOISON_MEMORY_REGION(f->data, FRAME_MAX);
	memset(f, 0, offsetof(struct frame, data));
	f->l3 = ETHERNET_LEN;
	f->len = ETHERNET_LEN + len;
	memcpy(f->data, head, ETHERNET_LEN);
	memcpy(f->data + ETHERNET_LEN, tlvs, len);
	ASAN_POISON_MEMORY_REGION(f->data + f->len, FRAME_MAX - f->len);
}

static void take_frame(const struct frame *f, struct lldp_peer *p)
{
	struct lldp_peer before = *p;
	struct err e = {0};

	check_result(lldp_decode(f->data, f->len, p, &e), &e, &before, p);
}

/* What the switch says then can be read. */
static void let_switch_answer(struct lab *lab, const struct frame *f)
{
	struct port *port = &lab->port[0];
	struct lldp_peer peer = {0};
	uint8_t answer[LLDP_SIZE_MAX];
	uint32_t size;

	lldp_receive(lab, port, f);
	port->config.lldp.dialect = (enum lldp_dialect)(f->len % 3);
	size = lldp_make(lab, port, false, answer);
	HOLDS(size <= sizeof(answer));
	HOLDS(!lldp_decode(answer, size, &peer, NULL));
	check_peer(&peer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct switch_config box = {.name = "leaf", .mac = {2}};
	static struct frame frame;
	static struct lab lab = {.box = {{.config = &box}}};
	struct lldp_peer by_tlvs = {0}, by_frame = {0};
	const uint8_t *head, *body;
	size_t len;

	memset(&lab.port[0], 0, sizeof(lab.port[0]));
	snprintf(lab.port[0].config.name, sizeof(lab.port[0].config.name), "p1");
	lab.port[0].config.tc[0].weight = 1; /* all priorities are in it */
	while (fuzz_record(&data, &size, HEAD_LEN, &head, &body, &len)) {
		if (len > FRAME_MAX - ETHERNET_LEN)
			len = FRAME_MAX - ETHERNET_LEN;
		make_frame(body, (uint32_t)len, &frame);
		take_tlvs(body, (uint32_t)len, &by_tlvs);
		take_frame(&frame, &by_frame);
		let_switch_answer(&lab, &frame);
	}
	return 0;
}
