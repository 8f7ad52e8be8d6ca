/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds enabled systemd units that run a QoS tool at boot, by a timer or on a path change. Two
 * programs that set one port overwrite each other's settings.
 */
#ifndef DCB_BOOT_CONFIG_H
#define DCB_BOOT_CONFIG_H

struct owner;

/* Finds such units below root (NULL: "/"): fills path, via and name (the tool) of at most max and
 * returns their number. */
unsigned int boot_config_find(const char *root, struct owner *found, unsigned int max);

/* Returns the first QoS tool that a text names as a separate word, or NULL. */
const char *boot_config_tool(const char *text);

#endif
