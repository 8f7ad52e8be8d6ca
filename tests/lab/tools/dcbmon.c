/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dcbmon CMD...: runs a command and prints how many DCB changes the kernel announced meanwhile:
 * every IEEE_SET, IEEE_DEL and SDCBX of anybody goes to RTNLGRP_DCB. The exit code is the
 * command's.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTLE_MS 200 /* netlink multicast is synchronous; this is for the scheduler */

/* Changes that are queued. -1: some were lost. */
static int take(int fd)
{
	static char buf[65536] __attribute__((aligned(8)));
	int changes = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *h = (const void *)buf;

		for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n))
			changes += h->nlmsg_type == RTM_SETDCB || h->nlmsg_type == RTM_GETDCB;
	}
	return changes;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK};
	int group = RTNLGRP_DCB, room = 4 << 20, status;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	pid_t pid;

	if (argc < 2 || fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room))) {
		perror("dcbmon");
		return 125;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("dcbmon");
		return 125;
	}
	usleep(SETTLE_MS * 1000);
	printf("changes %d\n", take(fd));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
