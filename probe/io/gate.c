/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys, and the lines by which both ends prove the token to each other.
 */
#include "probe/io/gate.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/pbkdf2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "profiles/base/json_take.h"
#include "profiles/base/text.h"

#define KEY_ROUNDS 100000 /* 50 ms */
#define END_TEXT   96
#define QUOTE_MAX  40

static const char salt[] = GATE_PROTOCOL " key";
static const char *const role_label[] = {
	[GATE_CLIENT] = GATE_PROTOCOL " client",
	[GATE_SERVER] = GATE_PROTOCOL " server",
};

void gate_key_make(const char *token, struct gate_key *key)
{
	pbkdf2_hmac_sha256(strlen(token), (const uint8_t *)token, KEY_ROUNDS, sizeof(salt),
			   (const uint8_t *)salt, sizeof(key->bytes), key->bytes);
}

static void gate_end_set(const struct sockaddr_storage *from, struct gate_end *end)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;

	memset(end, 0, sizeof(*end));
	if (from->ss_family == AF_INET6) {
		memcpy(end->address, &six->sin6_addr, 16);
		end->port = ntohs(six->sin6_port);
		return;
	}
	end->address[10] = end->address[11] = 0xff;
	memcpy(end->address + 12, &four->sin_addr, 4);
	end->port = ntohs(four->sin_port);
}

int gate_ends_read(int fd, enum gate_role own, struct gate_talk *talk)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_size = sizeof(here), there_size = sizeof(there);

	if (getsockname(fd, (struct sockaddr *)&here, &here_size) ||
	    getpeername(fd, (struct sockaddr *)&there, &there_size))
		return -errno;
	gate_end_set(&here, own == GATE_CLIENT ? &talk->client : &talk->server);
	gate_end_set(&there, own == GATE_CLIENT ? &talk->server : &talk->client);
	return 0;
}

static void gate_end_text(const struct gate_end *end, char buf[END_TEXT])
{
	struct in6_addr address;
	char text[INET6_ADDRSTRLEN] = "";

	memcpy(&address, end->address, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address))
		(void)inet_ntop(AF_INET, end->address + 12, text, sizeof(text));
	else
		(void)inet_ntop(AF_INET6, &address, text, sizeof(text));
	snprintf(buf, END_TEXT, "%s port %u", text, end->port);
}

static void hex_text(const uint8_t *bytes, size_t size, char *text)
{
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

void gate_greeting(const struct gate_talk *talk, enum gate_role own, char *buf, size_t size)
{
	char nonce[2 * GATE_NONCE_BYTES + 1], client[END_TEXT], server[END_TEXT];
	bool is_client = own == GATE_CLIENT;

	hex_text(is_client ? talk->client_nonce : talk->server_nonce, GATE_NONCE_BYTES, nonce);
	gate_end_text(&talk->client, client);
	gate_end_text(&talk->server, server);
	if (is_client)
		snprintf(buf, size,
			 "{\"probe\":\"%s\",\"build\":\"%s\",\"nonce\":\"%s\",\"client\":\"%s\","
			 "\"server\":\"%s\"}\n",
			 GATE_PROTOCOL, ROCECHECK_VERSION, nonce, client, server);
	else
		snprintf(buf, size, "{\"probe\":\"%s\",\"build\":\"%s\",\"nonce\":\"%s\"}\n",
			 GATE_PROTOCOL, ROCECHECK_VERSION, nonce);
}

/* Every part has a fixed size, so that no two talks give the same bytes; the label ends in NUL. */
static void gate_mac(const struct gate_talk *talk, enum gate_role role, const struct gate_key *key,
		     uint8_t proof[GATE_PROOF_BYTES])
{
	const struct gate_end *end[] = {&talk->client, &talk->server};
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, sizeof(key->bytes), key->bytes);
	hmac_sha256_update(&ctx, strlen(role_label[role]) + 1, (const uint8_t *)role_label[role]);
	hmac_sha256_update(&ctx, GATE_NONCE_BYTES, talk->server_nonce);
	hmac_sha256_update(&ctx, GATE_NONCE_BYTES, talk->client_nonce);
	for (size_t i = 0; i < ARRAY_SIZE(end); i++) {
		const uint8_t port[] = {(uint8_t)(end[i]->port >> 8), (uint8_t)end[i]->port};

		hmac_sha256_update(&ctx, sizeof(end[i]->address), end[i]->address);
		hmac_sha256_update(&ctx, sizeof(port), port);
	}
	hmac_sha256_digest(&ctx, GATE_PROOF_BYTES, proof);
	explicit_bzero(&ctx, sizeof(ctx));
}

void gate_proof(const struct gate_talk *talk, enum gate_role own, const struct gate_key *key,
		char *buf, size_t size)
{
	char text[2 * GATE_PROOF_BYTES + 1];
	uint8_t proof[GATE_PROOF_BYTES];

	gate_mac(talk, own, key, proof);
	hex_text(proof, sizeof(proof), text);
	snprintf(buf, size, "{\"proof\":\"%s\"}\n", text);
}

/* A server is named by the beginning of what it says, which goes to whoever asked for it. Nothing
 * that a client sends goes anywhere. */
static int gate_not_ours(const char *line, size_t length, enum gate_role other, struct err *e)
{
	char begin[QUOTE_MAX + 1];
	size_t size = length < QUOTE_MAX ? length : QUOTE_MAX;

	if (other == GATE_CLIENT)
		return err_set(e, -EPROTO, "this is no client of %s", GATE_PROTOCOL);
	while (size && isspace((unsigned char)line[size - 1]))
		size--;
	begin[text_clean_bytes(begin, line, size, TEXT_FIELD)] = '\0';
	err_set(e, -EPROTO, "what answers is no probe server of %s: '%s'", GATE_PROTOCOL, begin);
	err_hint(e, "is it 'rocecheck probe server' that listens there?");
	return -EPROTO;
}

/* A text of these letters alone: it goes into an error. */
static int gate_text_take(const json_t *doc, const char *key, const char *letters, char *buf,
			  size_t size, struct err *e)
{
	int err = json_take_text(doc, key, buf, size, e);

	if (!err && buf[strspn(buf, letters)])
		err = err_set(e, -EPROTO, "'%s': characters that it cannot have", key);
	return err ? err_set(e, -EPROTO, "%s", e->text) : 0;
}

/* 1: no family of ours. */
static int gate_protocol_check(const json_t *doc, enum gate_role other, struct err *e)
{
	static const char family[] = "rocecheck.probe/";
	char protocol[32], build[32];
	struct err ignored;

	if (json_take_text(doc, "probe", protocol, sizeof(protocol), &ignored) ||
	    strncmp(protocol, family, sizeof(family) - 1))
		return 1;
	if (!strcmp(protocol, GATE_PROTOCOL))
		return 0;
	if (gate_text_take(doc, "build", "0123456789abcdefghijklmnopqrstuvwxyz.-+~", build,
			   sizeof(build), &ignored))
		snprintf(build, sizeof(build), "unknown");
	err_set(e, -EPROTO, "the %s (build: %s) speaks %s, build %s here speaks %s",
		other == GATE_CLIENT ? "client" : "server", build, protocol, ROCECHECK_VERSION,
		GATE_PROTOCOL);
	err_hint(e, "install one version of rocecheck at both ends");
	return -EPROTO;
}

/* As the client sees them. Behind a translation of addresses no proof could be right. */
static int gate_addresses_check(const json_t *doc, const struct gate_talk *talk, struct err *e)
{
	static const char letters[] = "0123456789abcdef:. port";
	char client[END_TEXT], server[END_TEXT], seen_client[END_TEXT], seen_server[END_TEXT];

	if (gate_text_take(doc, "client", letters, client, sizeof(client), e) ||
	    gate_text_take(doc, "server", letters, server, sizeof(server), e))
		return e->code;
	gate_end_text(&talk->client, seen_client);
	gate_end_text(&talk->server, seen_server);
	if (!strcmp(client, seen_client) && !strcmp(server, seen_server))
		return 0;
	err_set(e, -EPROTO, "addresses differ: the client sees %s to %s, the server %s to %s",
		client, server, seen_client, seen_server);
	err_hint(e, "address translation (NAT) between the hosts: RoCE does not pass it "
		    "either, name an address of the host itself");
	return -EPROTO;
}

int gate_greeting_take(const char *line, size_t length, enum gate_role other,
		       struct gate_talk *talk, struct err *e)
{
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	uint8_t nonce[GATE_NONCE_BYTES];
	int err = gate_protocol_check(doc, other, e);

	if (err == 1)
		err = gate_not_ours(line, length, other, e);
	if (!err && json_take_hex(doc, "nonce", nonce, sizeof(nonce), e)) {
		e->code = -EPROTO;
		err = e->code;
	}
	if (!err && other == GATE_CLIENT)
		err = gate_addresses_check(doc, talk, e);
	if (!err)
		memcpy(other == GATE_CLIENT ? talk->client_nonce : talk->server_nonce, nonce,
		       sizeof(nonce));
	json_decref(doc);
	return err;
}

int gate_proof_check(const char *line, size_t length, enum gate_role other,
		     const struct gate_talk *talk, const struct gate_key *key, struct err *e)
{
	uint8_t shown[GATE_PROOF_BYTES] = {0}, right[GATE_PROOF_BYTES];
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	struct err ignored;
	int err = 0;

	gate_mac(talk, other, key, right);
	if (json_take_hex(doc, "proof", shown, sizeof(shown), &ignored)) {
		err = gate_not_ours(line, length, other, e);
	} else if (!memeql_sec(shown, right, sizeof(right))) {
		err = err_set(e, -EACCES,
			      other == GATE_CLIENT
				      ? "the token is not that of the server"
				      : "the server does not know the token: it is another one");
		err_hint(e, other == GATE_CLIENT ? "copy what 'rocecheck probe server' printed"
						 : "check the address and the port of the server");
	}
	json_decref(doc);
	explicit_bzero(right, sizeof(right));
	return err;
}
