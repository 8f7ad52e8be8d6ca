/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process beside this one that decodes packets of the wire: a child that opens packet sockets,
 * then gives up every privilege and confines itself (profiles/base/sandbox.h), and only then looks
 * at the first frame. What it finds comes over a stream socket, and is as hostile as the packets
 * are.
 */
#ifndef CAPTURE_CONFINED_H
#define CAPTURE_CONFINED_H

#include <stdint.h>
#include <sys/types.h>

#include "profiles/base/base.h"

#define CONFINED_FILE_FD 4 /* where the child finds job->file_fd */

struct confined_job {
	/* In the child, with the privileges of this process. What it opens is written to by nobody:
	 * packet sockets. */
	int (*open)(void *arg, struct err *e);
	/* In the child, confined. parent: the stream socket. The process ends with it. */
	void (*run)(void *arg, int parent);
	void *arg;
	int file_fd;	 /* stays open in the child for writing, -1: none */
	bool unfiltered; /* see sandbox_confine() */
};

struct confined {
	pid_t pid;
	int fd;	      /* to the child */
	int *refused; /* shared with it: the number of the system call that ended it, or -1 */
};

/* Starts it, and waits until it is confined. The child has no other descriptor than
 * the socket, file_fd and what it opens, and is a process group of its own. -errno and e, of open()
 * and the confinement too. */
int confined_start(const struct confined_job *job, struct confined *c, struct err *e);

/* Asks it to come to its end: the child reads the end of the stream. It can still answer. */
void confined_stop(const struct confined *c);

/* In the child: whether the parent asked for the end, or is gone. */
bool confined_stopped(int parent);

/* Reads or writes exactly size bytes. -EPIPE: the other process is gone; -ETIMEDOUT. */
int confined_read(int fd, void *bytes, size_t size, int timeout_ms);
int confined_write(int fd, const void *bytes, size_t size);

/* Reads all until the child closes its end, at most max bytes, in an allocated text with a NUL
 * behind it. -EMSGSIZE, -ETIMEDOUT, -ENOMEM, -EPIPE when nothing came. */
int confined_read_text(int fd, size_t max, int timeout_ms, char **text);

/* In the parent: an error that the child sent, with a code, is as hostile as all else. Its code. */
int confined_error(struct err *reply, struct err *e);

/* Passes a descriptor; the byte goes with it. */
int confined_send_fd(int to, uint8_t byte, int fd);
/* *fd is -1 when none came. */
int confined_receive_fd(int from, uint8_t *byte, int *fd);

/* Closes the socket and waits for the process, which is killed when it does not end. -EPIPE and e
 * when it was ended by a signal: e names it, or the system call that its sandbox does not allow. */
int confined_close(struct confined *c, struct err *e);

#endif
