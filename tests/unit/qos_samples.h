/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A struct qos in which every field is known and none has the value 0, for tests that walk the
 * field table. Numbers are made from the row's range, so that a new row needs nothing here.
 */
#ifndef TESTS_UNIT_QOS_SAMPLES_H
#define TESTS_UNIT_QOS_SAMPLES_H

#include <string.h>

#include "profiles/qos.h"

/* A value in the range of the row, different for each i. */
static inline uint64_t sample_number(const struct qos_field *f, unsigned int i)
{
	uint64_t span = (uint64_t)f->max - f->min;

	return f->min + (span < 8 ? (i + 1) % (span + 1) : span / 2 + i);
}

static inline void sample_fill(struct qos *q, const struct qos_field *f)
{
	void *slot = qos_slot(q, f);

	switch (f->kind) {
	case QOS_KIND_U32:
		*(uint32_t *)slot = sample_number(f, 0);
		break;
	case QOS_KIND_U16:
		*(uint16_t *)slot = sample_number(f, 0);
		break;
	case QOS_KIND_U8:
		*(uint8_t *)slot = sample_number(f, 0);
		break;
	case QOS_KIND_BOOL:
		*(uint8_t *)slot = 1;
		break;
	case QOS_KIND_WORD:
		*(uint8_t *)slot = f->words[1].value;
		break;
	case QOS_KIND_FLAGS:
		*(uint8_t *)slot = f->words[0].value | f->words[2].value;
		break;
	case QOS_KIND_PRIO_SET:
		*(uint8_t *)slot = 0x28;
		break;
	case QOS_KIND_TC_WORD:
		for (unsigned int i = 0; i < QOS_TCS; i++)
			((uint8_t *)slot)[i] = f->words[i % 4].value;
		break;
	case QOS_KIND_PRIO_U8:
	case QOS_KIND_TC_U8:
		for (unsigned int i = 0; i < QOS_TCS; i++)
			((uint8_t *)slot)[i] = sample_number(f, i);
		break;
	case QOS_KIND_TC_U32:
		for (unsigned int i = 0; i < QOS_TCS; i++)
			((uint32_t *)slot)[i] = sample_number(f, i);
		break;
	case QOS_KIND_TC_U64:
		for (unsigned int i = 0; i < QOS_TCS; i++)
			((uint64_t *)slot)[i] = sample_number(f, i);
		break;
	case QOS_KIND_DSCP_MAP:
		memset(slot, QOS_UNMAPPED, QOS_DSCPS);
		((uint8_t *)slot)[26] = 3;
		((uint8_t *)slot)[63] = 7;
		break;
	case QOS_KIND_APP:
		(void)qos_app_add(q, (struct qos_app){QOS_APP_DGRAM, 3, 4791});
		(void)qos_app_add(q, (struct qos_app){QOS_APP_DGRAM, 4, 4791});
		(void)qos_app_add(q, (struct qos_app){QOS_APP_ETHERTYPE, 3, 0x8915});
		(void)qos_app_add(q, (struct qos_app){QOS_APP_ANY, 0, 65535});
		break;
	case QOS_KIND_TOS:
		*(uint8_t *)slot = 106;
		break;
	case QOS_KIND_MS:
		*(uint16_t *)slot = 100;
		break;
	case QOS_KIND_SELECTORS:
		((uint8_t *)slot)[0] = QOS_APP_DSCP;
		((uint8_t *)slot)[1] = QOS_APP_PCP;
		break;
	case QOS_KIND_PRIO_MAP:
		memset(slot, QOS_UNMAPPED, QOS_PRIOS);
		((uint8_t *)slot)[3] = 5;
		break;
	case QOS_KIND_SKB_MAP:
		((uint8_t *)slot)[2] = 3;
		((uint8_t *)slot)[15] = 7;
		break;
	case QOS_KIND_PARAMS:
		qos_param_put(&q->cc_params, 6, 5);
		qos_param_put(&q->cc_params, QOS_PARAM_COUNT - 1, 1019);
		break;
	}
}

static inline void sample_qos(struct qos *q)
{
	memset(q, 0, sizeof(*q));
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		sample_fill(q, &qos_fields[id]);
		q->has |= QOS_BIT(id);
	}
	q->ib_mtu = 2048; /* a power of two, which no range says */
}

#endif
