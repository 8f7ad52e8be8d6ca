/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules of a fabric run: rounds of pairs of ports, one row of a table for each pattern. Pure: a
 * schedule depends on its spec alone, and needs memory for its ports, not for its pairs. Two ports
 * of one host never form a pair. The text form has one round a line: "server,client;server,client".
 */
#ifndef PROBE_SCHEDULE_H
#define PROBE_SCHEDULE_H

#include "profiles/base/base.h"

/* Up to this many ports on a rail, `validate` tests every pair. */
#define SCHEDULE_TOURNAMENT_MAX 64

/* The patterns that users can name. */
#define SCHEDULE_WORDS "tournament, ring, shift, permutation, bisection, rail or cross-rail"

enum schedule_pattern {
	SCHEDULE_TOURNAMENT,  /* every ordered pair, one pair of a port in a round */
	SCHEDULE_RING,	      /* each port sends to one of the next host */
	SCHEDULE_SHIFT,	      /* rings of 1, 2, 4, ... hosts */
	SCHEDULE_PERMUTATION, /* seeded random rings */
	SCHEDULE_BISECTION,   /* the first half with the second, one direction after the other */
	/* disjoint groups of `senders` ports to one, each port in turn; with all other ports as
	 * senders it is many to one */
	SCHEDULE_INCAST,
	SCHEDULE_RAIL,	     /* a tournament on each rail, all rails at once */
	SCHEDULE_CROSS_RAIL, /* each port to a port of each other rail */
	SCHEDULE_FILE,	     /* from schedule_parse() */
	SCHEDULE_PATTERNS,
};

struct schedule;

struct schedule_row {
	const char *name;
	bool whole;   /* of all rails together, not of each rail alone */
	bool duplex;  /* a port can send and receive in one round */
	bool fan_in;  /* a port can receive from several others in one round */
	bool mirrors; /* round 2i + 1 is round 2i in the other direction */
	/* Adds the pairs of a round, which can be none. False after the last step. */
	bool (*make)(struct schedule *s, unsigned int step);
};

extern const struct schedule_row schedule_patterns[SCHEDULE_PATTERNS];

struct schedule_port {
	const char *host_name, *netdev; /* borrowed; for the text form alone */
	unsigned int host;		/* ascending: ports of a host stand together */
	unsigned int rail;
	uint32_t speed_mbps; /* 0 = unknown; for the estimate alone */
	bool alone; /* only port of its host: in the text form the host's name is its name */
};

struct schedule_spec {
	enum schedule_pattern pattern;
	const struct schedule_port *port; /* borrowed until schedule_close() */
	unsigned int n;
	unsigned int senders; /* SCHEDULE_INCAST: k, at least 2 */
	unsigned int rounds;  /* SCHEDULE_PERMUTATION: 0 = 16 */
	uint64_t seed;	      /* SCHEDULE_PERMUTATION */
};

struct schedule_pair {
	unsigned int server, client; /* indexes of spec.port */
};

struct schedule_work; /* of schedule.c */

struct schedule {
	struct schedule_spec spec;
	/* The current round, until the next call; owned. Pairs of one server stand together. */
	const struct schedule_pair *pair;
	unsigned int pair_count;
	unsigned int round; /* from 0 */
	struct schedule_work *work;
};

/*
 * Opens a schedule before its first round. -EINVAL: fewer than 2 senders, hosts not in order;
 * -ENOMEM. Without partners there is no round. The caller calls schedule_close().
 *
 * Every port that has a partner is a server in some round and, without fan-in, a client too.
 * SCHEDULE_INCAST: with n > k ports, k + 1 rounds in which each
 * port is the server exactly once; no port has two roles in a round or sends to two servers. Where
 * n is no multiple of k + 1, some servers have fewer than k clients, the same number within one in
 * a round; so that none has fewer than two, k = 2 and k = 3 can become up to 4. With n <= k ports
 * there are n rounds of n - 1 to one.
 */
int schedule_open(struct schedule *s, const struct schedule_spec *spec, struct err *e);

/* Makes the next round, which has at least one pair. False after the last. */
bool schedule_next(struct schedule *s);

/* Returns to before the first round. */
void schedule_rewind(struct schedule *s);
void schedule_close(struct schedule *s);

/*
 * Opens the schedule of a file in text form: names are HOST:NETDEV, or HOST of a port that is
 * alone; empty lines and lines from '#' on are skipped. In a round a port is once a server and once
 * a client. spec gives the ports. -EINVAL: the error begins with path:line:column and states what
 * was expected; -ENOMEM.
 */
int schedule_parse(struct schedule *s, const struct schedule_spec *spec, const char *path,
		   const char *text, size_t size, struct err *e);

/* Returns the text form of all rounds, which the caller frees, and rewinds. NULL on -ENOMEM. */
char *schedule_text(struct schedule *s);

struct schedule_estimate {
	unsigned int rounds;
	uint64_t pairs;
	uint64_t bytes;
	double seconds;
};

/* Bytes per second of a pair: percent of the slower link; 1 Gbit/s where no speed is known. */
uint64_t schedule_rate(uint32_t a_mbps, uint32_t b_mbps, unsigned int percent);

/* Counts all rounds, of traffic_s each and pause_s around them, at percent of the slower link, and
 * rewinds. A server of an incast receives at the rate of its link, whatever its senders. */
void schedule_estimate(struct schedule *s, unsigned int traffic_s, double pause_s,
		       unsigned int percent, struct schedule_estimate *out);

void schedule_estimate_add(struct schedule_estimate *sum, const struct schedule_estimate *one);

/* The pattern of a name that users can give, all without fan-in, or -ENOENT. */
int schedule_pattern_find(const char *name);

/* Default pattern for n ports of a rail. */
enum schedule_pattern schedule_pattern_default(unsigned int n);

#endif
