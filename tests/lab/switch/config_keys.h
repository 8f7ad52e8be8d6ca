/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a configuration, for those who load it (config.c) and tell of it (config_help.c).
 */
#ifndef TESTS_LAB_SWITCH_CONFIG_KEYS_H
#define TESTS_LAB_SWITCH_CONFIG_KEYS_H

#include "profiles/yaml/yaml_schema.h"
#include "tests/lab/switch/config.h"

extern const struct schema lab_keys, switch_keys, link_keys, fault_keys, host_keys;
extern const struct schema prio_keys, tc_keys, app_keys;
extern const struct schema port_keys;	 /* of one port */
extern const struct schema default_keys; /* the same without what tells ports apart */
extern const struct schema change_keys;	 /* of a switch, while it runs */
extern const struct schema mirror_keys;

schema_read config_read_rate, config_read_ms, config_read_mac, config_read_prio, config_read_map,
	config_read_prio_set, config_read_words, config_read_pfc, config_read_numbered,
	config_read_all_prios;
extern const struct qos_word pfc_words[];

void config_port_defaults(struct port_config *p);

#endif
