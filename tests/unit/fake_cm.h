/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A librdmacm of one process, in place of the real one, beside the verbs of fake_verbs.h: events go
 * through a pipe a channel. It gives queue pairs the ToS that the active side asked for, or another
 * one. Included once by a test.
 */
#ifndef TESTS_FAKE_CM_H
#define TESTS_FAKE_CM_H

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include "tests/unit/fake_objects.h"

struct fake_channel {
	struct rdma_event_channel channel;
	int in; /* of the pipe */
};

struct fake_id {
	struct rdma_cm_id id;
	struct fake_id *peer;
	uint8_t tos;
	uint32_t qpn, number; /* of the connection */
	uint8_t words[64];
};

/* What the test wants. */
static struct {
	struct fake_id *listener;
	uint32_t connections;
	int tos;      /* that queue pairs get in place of what was asked for; -1: none */
	int tos_from; /* from this connection on */
	unsigned int ids, rejected; /* that live; requests that were sent away */
	size_t words_most;	    /* private data of a request */
	/* Before each request of ours a stranger's one, and what it says of itself then */
	bool strangers;
	enum rdma_cm_event_type stranger_says;
	struct rdma_cm_id *gone[16]; /* of strangers, that the test destroys */
	unsigned int gone_count;
} fake_cm;

static void fake_cm_reset(void)
{
	fake_cm.listener = NULL;
	fake_cm.connections = 0;
	fake_cm.tos = -1;
	fake_cm.tos_from = 0;
	fake_cm.ids = fake_cm.rejected = 0;
	fake_cm.words_most = 0;
	fake_cm.strangers = false;
	fake_cm.gone_count = 0;
	fake_cm.stranger_says = RDMA_CM_EVENT_REJECTED;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_channel *c = calloc(1, sizeof(*c));
	int fds[2];

	if (pipe(fds))
		abort();
	c->channel.fd = fds[0];
	c->in = fds[1];
	return &c->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	close(((struct fake_channel *)channel)->in);
	free(channel);
}

static void fake_event(struct rdma_cm_id *id, struct rdma_event_channel *channel,
		       enum rdma_cm_event_type type, const struct rdma_conn_param *param)
{
	struct rdma_cm_event *event = calloc(1, sizeof(*event));

	event->id = id;
	event->event = type;
	if (param)
		event->param.conn = *param;
	if (write(((struct fake_channel *)channel)->in, &event, sizeof(event)) != sizeof(event))
		abort();
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	return read(channel->fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	(void)event;
	return "event";
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	struct fake_id *made = calloc(1, sizeof(*made));

	made->id.channel = channel;
	made->id.context = context;
	made->id.ps = ps;
	__atomic_add_fetch(&fake_cm.ids, 1, __ATOMIC_RELAXED);
	*id = &made->id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (fake_cm.listener == (struct fake_id *)id)
		fake_cm.listener = NULL;
	__atomic_sub_fetch(&fake_cm.ids, 1, __ATOMIC_RELAXED);
	free(id);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id;
	(void)addr;
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)backlog;
	fake_cm.listener = (struct fake_id *)id;
	return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	(void)id;
	return htons(4791);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t size)
{
	if (level != RDMA_OPTION_ID || name != RDMA_OPTION_ID_TOS || size != 1)
		abort();
	((struct fake_id *)id)->tos = *(uint8_t *)value;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	(void)from;
	(void)to;
	(void)ms;
	fake_event(id, id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	(void)ms;
	fake_event(id, id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	return 0;
}

/* A request with these words, and what is said of its connection afterwards. */
static void fake_stranger(const void *words, uint8_t length)
{
	struct rdma_conn_param param = {.private_data_len = length};
	struct rdma_cm_id *made, *gone;
	struct fake_id *stranger;

	rdma_create_id(fake_cm.listener->id.channel, &made, NULL, RDMA_PS_TCP);
	rdma_create_id(fake_cm.listener->id.channel, &gone, NULL, RDMA_PS_TCP);
	stranger = (struct fake_id *)made;
	if (length)
		memcpy(stranger->words, words, length);
	param.private_data = stranger->words;
	fake_event(made, made->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &param);
	fake_event(gone, gone->channel, fake_cm.stranger_says, NULL);
	fake_cm.gone[fake_cm.gone_count++ % 16] = gone;
}

/* The REQ brings the ToS to the passive side. */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct fake_id *active = (struct fake_id *)id, *passive;
	struct rdma_conn_param seen = *param;
	struct rdma_cm_id *made;

	if (fake_cm.strangers)
		fake_stranger("hello", 5);
	if (param->private_data_len > fake_cm.words_most)
		fake_cm.words_most = param->private_data_len;
	rdma_create_id(fake_cm.listener->id.channel, &made, NULL, RDMA_PS_TCP);
	passive = (struct fake_id *)made;
	passive->peer = active;
	active->peer = passive;
	active->qpn = param->qp_num;
	active->number = passive->number = fake_cm.connections++;
	passive->tos = active->tos;
	memcpy(passive->words, param->private_data, param->private_data_len);
	seen.private_data = passive->words;
	fake_event(made, made->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &seen);
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct fake_id *passive = (struct fake_id *)id;

	passive->qpn = param->qp_num;
	fake_event(&passive->peer->id, passive->peer->id.channel, RDMA_CM_EVENT_CONNECT_RESPONSE,
		   NULL);
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	struct rdma_cm_id *passive = &((struct fake_id *)id)->peer->id;

	fake_event(passive, passive->channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *words, uint8_t length)
{
	(void)id;
	(void)words;
	(void)length;
	fake_cm.rejected++;
	return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	const struct fake_id *own = (const struct fake_id *)id;
	bool other = fake_cm.tos >= 0 && own->number >= (uint32_t)fake_cm.tos_from;

	*mask = IBV_QP_STATE;
	if (attr->qp_state == IBV_QPS_RTR) {
		*mask |= IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		attr->dest_qp_num = own->peer->qpn;
		attr->ah_attr.is_global = 1;
		attr->ah_attr.grh.traffic_class = other ? (uint8_t)fake_cm.tos : own->tos;
	} else {
		*mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT |
			 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN;
		attr->retry_cnt = 6;
	}
	return 0;
}

#endif
