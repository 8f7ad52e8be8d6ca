/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One traffic end in a process of its own, so that a kernel which never comes back from a post
 * (Linux 6.1 when the MTU is lowered under a running rxe queue pair) costs a process that can be
 * killed, not the agent.
 *
 * Lines on in_fd and the answer to each on out_fd, {"error":{...}} when it failed:
 *   the spec          -> {"peer":{...}}; {"echo":{...}} is that of a marking echo
 *   the other's peer  -> {"connected":true}
 *   {"run":true}      -> {"result":{...}}, and {"progress":{...}} before it every progress_ms
 *   {"stop":true}     in a run: it ends now, and is answered
 *   {"unheard":true}  the same, as a failure: the other end's program is silent
 * End of input stops the run, too, and ends the process. Queue pairs live until then.
 */
#ifndef PROBE_TRAFFIC_CHILD_H
#define PROBE_TRAFFIC_CHILD_H

#include <stdbool.h>

/* Serves one end; returns when its input ends. 0 or -errno. confined: this process is it alone, and
 * gives up its rights for good before it opens its device (profiles/base/confine.h). */
int traffic_child(int in_fd, int out_fd, bool confined);

#endif
