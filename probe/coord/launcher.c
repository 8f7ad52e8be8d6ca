/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launchers `ssh`, `local` and `command`, which is what the inventory states. ssh is the OpenSSH
 * client with the user's configuration: keys, jump hosts, multiplexing and host key checks.
 * ssh_options[] disables prompts and forwarding, and detects a dead host.
 */
#include "probe/coord/launcher.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiles/fabric.h"

static void launcher_add_arg(struct launcher_argv *a, const char *word)
{
	if (a->count < LAUNCHER_ARGS_MAX - 1)
		a->argv[a->count++] = word;
}

static void PRINTF_LIKE(2, 3) launcher_add_text(struct launcher_argv *a, const char *fmt, ...)
{
	char *text = a->text[a->text_count < ARRAY_SIZE(a->text) ? a->text_count++ : 0];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, LAUNCHER_TEXT_MAX, fmt, ap);
	va_end(ap);
	launcher_add_arg(a, text);
}

/* Returns the target of a host, or NULL. Checks the name again, although the inventory has checked
 * it: it goes on a command line. */
static const char *launcher_target(const struct fabric_host *h, struct err *e)
{
	const char *target = h->target[0] ? h->target : h->name;

	if (fabric_target_ok(target))
		return target;
	err_set(e, -EINVAL, "invalid host '%s': expected user@host, an address or a name", target);
	err_hint(e, "letters, digits and ._-+:%%@[]/ are allowed; no part begins with '-'");
	return NULL;
}

/* sshd passes the arguments to the user's shell, so special characters are quoted. */
static int launcher_add_remote_arg(struct launcher_argv *a, const char *word, struct err *e)
{
	if (!*word || *word == '-')
		return err_set(e, -EINVAL, "invalid agent command '%s'", word);
	if (strchr(word, '\''))
		return err_set(e, -EINVAL, "invalid agent command %s: quotes are not allowed",
			       word);
	if (strpbrk(word, " \t\r\n\"\\$`;&|<>(){}*?!#~"))
		launcher_add_text(a, "'%s'", word);
	else
		launcher_add_arg(a, word);
	return 0;
}

static const char *launcher_agent_path(const struct fabric *f, const struct fabric_host *h)
{
	if (h->agent[0])
		return h->agent;
	return f->agent[0] ? f->agent : "rocecheck";
}

/* The options of OpenSSH's scp, and Tunnel; they override the user's configuration. A hostile host
 * gets no access to the user's keys, display, ports and interfaces. No other command runs here or
 * replaces the agent there. Multiplexing works as configured. */
static const char *const ssh_options[] = {
	"-T",
	"-x",
	"-oForwardAgent=no",
	"-oClearAllForwardings=yes",
	"-oTunnel=no",
	"-oPermitLocalCommand=no",
	"-oRemoteCommand=none",
	"-oRequestTTY=no",
	"-oBatchMode=yes",
	"-oServerAliveInterval=2",
	"-oServerAliveCountMax=3",
};

static int launcher_make_ssh(const struct fabric *f, unsigned int host, struct launcher_argv *out,
			     struct err *e)
{
	const struct fabric_host *h = &f->host[host];
	const char *target = launcher_target(h, e);
	int err;

	if (!target)
		return e->code;
	launcher_add_arg(out, "ssh");
	if (f->ssh_config[0]) {
		launcher_add_arg(out, "-F");
		launcher_add_arg(out, f->ssh_config);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ssh_options); i++)
		launcher_add_arg(out, ssh_options[i]);
	launcher_add_text(out, "-oConnectTimeout=%u",
			  f->connect_timeout_s ? f->connect_timeout_s : 10);
	launcher_add_arg(out, "--");
	launcher_add_arg(out, target);
	err = launcher_add_remote_arg(out, launcher_agent_path(f, h), e);
	if (err)
		return err;
	launcher_add_arg(out, "agent");
	launcher_add_arg(out, NULL);
	return 0;
}

static int launcher_make_local(const struct fabric *f, unsigned int host, struct launcher_argv *out,
			       struct err *e)
{
	const char *agent = launcher_agent_path(f, &f->host[host]);

	if (*agent == '-')
		return err_set(e, -EINVAL, "invalid agent command '%s'", agent);
	launcher_add_arg(out, agent);
	launcher_add_arg(out, "agent");
	launcher_add_arg(out, NULL);
	return 0;
}

/* The agent's words follow those of the command. */
static int launcher_make_command(const struct fabric *f, unsigned int host,
				 struct launcher_argv *out, struct err *e)
{
	const char *target = launcher_target(&f->host[host], e);
	int words;

	if (!target)
		return e->code;
	words = fabric_launcher_split(f->launcher, target, out->words, sizeof(out->words),
				      out->argv, e);
	if (words < 0) {
		err_prefix(e, "launcher");
		return words;
	}
	out->count = (unsigned int)words;
	return launcher_make_local(f, host, out, e);
}

const struct launcher launchers[] = {
	{"ssh", launcher_make_ssh},
	{"local", launcher_make_local},
	{"command", launcher_make_command},
};
const unsigned int launcher_count = ARRAY_SIZE(launchers);

const struct launcher *launcher_find(const char *name)
{
	for (unsigned int i = 0; i < launcher_count; i++) {
		if (!strcmp(launchers[i].name, name))
			return &launchers[i];
	}
	return NULL;
}

const struct launcher *launcher_of_fabric(const struct fabric *f, struct err *e)
{
	const char *name = f->launcher[0] ? "command" : f->engine[0] ? f->engine : "ssh";
	const struct launcher *found = launcher_find(name);

	if (!found)
		err_set(e, -EINVAL, "unknown engine '%s'", f->engine);
	return found;
}

static const struct {
	const char *part;
	const char *hint;
} hints[] = {
	{"Host key verification failed", "connect once with ssh and check the host's key"},
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "the host's key changed: find out why first"},
	{"Permission denied (",
	 "the host rejects the key: check ssh_config and the host's authorized_keys"},
	{"Could not resolve hostname", "check 'target' in the inventory"},
	{"Connection refused", "no sshd listens on that port: check host, port and ssh_config"},
	{"timed out", "the host does not answer: check the host and its address"},
	{"No route to host", "the host does not answer: check the host and its address"},
	{"command not found", "install rocecheck on the host or set 'agent' in the inventory"},
	{"Can't open user config file",
	 "the file named by 'ssh.config' in the inventory does not exist"},
	{"No such file or directory",
	 "install rocecheck on the host or set 'agent' in the inventory"},
};

const char *launcher_hint(const char *stderr_line)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (strstr(stderr_line, hints[i].part))
			return hints[i].hint;
	}
	return NULL;
}
