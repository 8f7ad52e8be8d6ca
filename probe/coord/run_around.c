/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the user's job between two readings of all counters, and asks meanwhile which processes have
 * queue pairs. The job is a child in our process group: it has the terminal, and its Ctrl-C. A
 * signal that only this process gets is passed on. A job that does not end then is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "probe/coord/phase_priv.h"
#include "profiles/base/process.h"
#include "profiles/base/signals.h"

/* Asked first so long after the start of the job, then each time after a quarter of its age. */
#define USERS_FIRST_MS 500
#define USERS_LAST_MS  30000
#define STOP_GRACE_MS  30000 /* from a signal that asks the job to stop to SIGKILL */

struct job {
	struct coordinator *c;
	const atomic_int *stop;
	pid_t pid;
	bool ended;
	int status;
	uint64_t next_ms; /* when to ask for users */
	uint64_t kill_ms; /* 0: nobody asked the job to stop */
};

/* Passes the signal on, once, unless the job has it from the terminal. */
static void around_stop(struct job *j)
{
	bool of_terminal = false;
	int number = signals_stop_number(&of_terminal);

	j->kill_ms = loop_now_ms(j->c->s.loop) + STOP_GRACE_MS;
	session_report(&j->c->s, "stopping the job");
	if (!of_terminal)
		(void)kill(j->pid, number ? number : SIGINT);
}

static bool around_ended(struct job *j)
{
	pid_t ended;

	if (j->ended)
		return true;
	if (j->stop && *j->stop && !j->kill_ms)
		around_stop(j);
	if (j->kill_ms && loop_now_ms(j->c->s.loop) >= j->kill_ms)
		(void)kill(j->pid, SIGKILL);
	ended = waitpid(j->pid, &j->status, WNOHANG);
	j->ended = ended == j->pid || (ended < 0 && errno != EINTR);
	return j->ended;
}

static bool around_paused(void *arg)
{
	struct job *j = arg;

	return around_ended(j) || loop_now_ms(j->c->s.loop) >= j->next_ms;
}

static bool around_answered(void *arg)
{
	struct job *j = arg;
	bool busy = false;

	for (unsigned int i = 0; i < j->c->s.r->host_count; i++)
		busy = busy || agent_conn_busy(&j->c->s.conn[i]);
	return around_ended(j) || !busy;
}

/* Waits for the end of the job. */
static void around_watch(struct job *j)
{
	struct session *s = &j->c->s;

	for (unsigned int wait_ms = USERS_FIRST_MS; !j->ended; wait_ms += wait_ms / 4) {
		wait_ms = wait_ms < USERS_LAST_MS ? wait_ms : USERS_LAST_MS;
		j->next_ms = loop_now_ms(s->loop) + wait_ms;
		loop_run_until(s->loop, around_paused, j);
		if (j->ended)
			break;
		session_ask_counters(s, true);
		loop_run_until(s->loop, around_answered, j);
		session_read_counters(s, READ_LOAD_AFTER);
	}
}

/* Writes the command as one line, with quotes where a shell needs them. */
static void around_command_text(char *const *argv, char *buf, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; argv[i] && used < size; i++) {
		const char *quote = argv[i][0] && !strpbrk(argv[i], " \t\n'\"\\$`;&|<>(){}*?!#~")
					    ? ""
					    : "'";

		used += (size_t)snprintf(buf + used, size - used, "%s%s%s%s", i ? " " : "", quote,
					 argv[i], quote);
	}
}

int phase_job(struct coordinator *c, struct err *e)
{
	struct job j = {.c = c, .stop = c->s.stop};
	struct run_job *job = &c->s.r->job;
	int err;

	phase_read_counters(c, READ_LOAD_BEFORE);
	if (session_stopped(&c->s))
		return 0;
	around_command_text(c->job, job->command, sizeof(job->command));
	session_report(&c->s, "starting %.400s", job->command);
	err = process_start(c->job, &j.pid, e);
	if (err)
		return err;
	c->s.r->has_job = true;
	/* From now on a signal stops the job, and its results are reported. */
	c->s.stop = NULL;
	around_watch(&j);
	job->stopped = j.stop && *j.stop; /* also when it ended first */
	job->exit_code = (uint8_t)(WIFSIGNALED(j.status) ? 128 + WTERMSIG(j.status)
							 : WEXITSTATUS(j.status));
	session_report(&c->s, "the job ended with exit code %u", job->exit_code);
	if (!job->stopped)
		c->s.stop = j.stop;
	session_pause(&c->s, session_settle_ms(&c->s));
	phase_read_counters(c, READ_LOAD_AFTER);
	return 0;
}
