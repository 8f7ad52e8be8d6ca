/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of dcb/kernel/congestion.h as tables: folders with their properties, and one row per
 * file. Private to congestion*.c and their tests.
 */
#ifndef DCB_CONGESTION_PRIV_H
#define DCB_CONGESTION_PRIV_H

#include "dcb/kernel/congestion.h"

enum congestion_tree {
	CC_SYSFS,
	CC_DEBUGFS,
	CC_CONFIGFS,
};

/* The variable part of a folder's path. */
enum congestion_name {
	CC_BY_NETDEV,
	CC_BY_BUS,
	CC_BY_IBDEV,
	CC_BY_IB_PORT, /* IBDEV, and the number of its port at the end */
	CC_BY_MODULE,  /* load_time */
};

enum congestion_form {
	CC_NUMBER,
	CC_BITS,    /* files 0 to 7 with 0 or 1, one per priority */
	CC_SWITCH,  /* 0 or 1: off, or the algorithm `index` */
	CC_OFED_TOS /* "Global tclass=106"; none: reads empty, is written as -1; 0 in struct qos */
};

/* The folder is before, name, after. */
struct congestion_folder {
	enum congestion_tree tree;
	enum congestion_name name;
	const char *before, *after;
	const char *commit;    /* file that activates written values; NULL: each write does */
	const char *made_in;   /* configfs folder in which a user has to create the one of IBDEV */
	const char *load_time; /* module of these parameters: read, not written */
	/* PCI drivers of the RDMA device that the folder belongs to, up to NULL. NULL: the files
	 * identify it. */
	const char *const *drivers;
	bool hexadecimal; /* number format of writes */
};

struct congestion_file {
	uint8_t folder;
	uint8_t field; /* enum qos_field_id */
	uint8_t index; /* of qos_param_words[]; of the algorithm */
	uint8_t form;  /* enum congestion_form */
	const char *file;
	bool profiled; /* a service profile of the firmware may control it */
};

extern const struct congestion_folder congestion_folders[];
extern const struct congestion_file congestion_files[];
extern const unsigned int congestion_file_count;

#endif
