/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services of others that set the QoS of this host again, at boot, by a timer or when a path
 * changes: enabled units that call a tool for it. Two that set a port undo each other.
 */
#ifndef DCB_BOOT_CONFIG_H
#define DCB_BOOT_CONFIG_H

struct owner;

/* Finds them below root (NULL: "/"): fills path, via and name (the tool) of at most max and returns
 * how many. */
unsigned int boot_config_find(const char *root, struct owner *found, unsigned int max);

/* The first such tool that a text names as a word of its own, NULL when there is none. */
const char *boot_config_tool(const char *text);

#endif
