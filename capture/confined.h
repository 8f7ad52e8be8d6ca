/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a child process that decodes packets: it opens packet sockets, drops all privileges,
 * confines itself (profiles/base/sandbox.h), and only then reads the first frame. Its results
 * arrive over a stream socket and are as hostile as the packets.
 */
#ifndef CAPTURE_CONFINED_H
#define CAPTURE_CONFINED_H

#include <stdint.h>
#include <sys/types.h>

#include "profiles/base/base.h"

#define CONFINED_FILE_FD 4 /* job->file_fd in the child */

struct confined_job {
	/* Runs in the child, with the privileges of this process. Opens packet sockets, to which
	 * nobody writes. */
	int (*open)(void *arg, struct err *e);
	/* Runs in the confined child. parent: the stream socket. The process ends afterwards. */
	void (*run)(void *arg, int parent);
	void *arg;
	int file_fd;	 /* stays open in the child for writing, -1: none */
	bool unfiltered; /* see sandbox_confine() */
};

struct confined {
	pid_t pid;
	int fd;	      /* to the child */
	int *refused; /* shared with the child: the system call that killed it */
};

/* Starts the child and waits until it is confined. The child has only the socket, file_fd and what
 * it opens, in a process group of its own. -errno and e, also of open() and the confinement. */
int confined_start(const struct confined_job *job, struct confined *c, struct err *e);

/* Asks the child to end: it reads the end of the stream. It can still answer. */
void confined_stop(const struct confined *c);

/* In the child: true when the parent asked for the end, or exited. */
bool confined_stopped(int parent);

/* Reads or writes exactly size bytes. -EPIPE: the other process exited; -ETIMEDOUT. */
int confined_read(int fd, void *bytes, size_t size, int timeout_ms);
int confined_write(int fd, const void *bytes, size_t size);

/* Reads until the child closes its end, at most max bytes, into an allocated text with a NUL at
 * its end. -EMSGSIZE, -ETIMEDOUT, -ENOMEM, -EPIPE without any byte. */
int confined_read_text(int fd, size_t max, int timeout_ms, char **text);

/* In the parent: copies an error of the child, which is as hostile as its other data. Returns its
 * code. */
int confined_error(struct err *reply, struct err *e);

/* Sends a descriptor with one byte. */
int confined_send_fd(int to, uint8_t byte, int fd);
/* Receives them; *fd is -1 without a descriptor. */
int confined_receive_fd(int from, uint8_t *byte, int *fd);

/* Closes the socket and waits for the process; kills it after a timeout. -EPIPE and e when a
 * signal ended it: e names the signal, or the system call that the sandbox does not allow. */
int confined_close(struct confined *c, struct err *e);

#endif
