/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of dcb/kernel/congestion.h as tables: folders with their peculiarities, and one row a
 * file. For cc.c and its tests alone.
 */
#ifndef DCB_CONGESTION_PRIV_H
#define DCB_CONGESTION_PRIV_H

#include "dcb/kernel/congestion.h"

enum congestion_tree {
	CC_SYSFS,
	CC_DEBUGFS,
	CC_CONFIGFS,
};

/* What the name in a folder is. */
enum congestion_name {
	CC_BY_NETDEV,
	CC_BY_BUS,
	CC_BY_IBDEV,
	CC_BY_IB_PORT, /* IBDEV, and the number of its port at the end */
	CC_BY_MODULE,  /* load_time */
};

enum congestion_form {
	CC_NUMBER,
	CC_BITS,    /* files 0 to 7 with 0 or 1, one a priority */
	CC_SWITCH,  /* 0 or 1: off, or the algorithm that `index` says */
	CC_OFED_TOS /* "Global tclass=106"; nothing forced is empty, written as -1, and 0 here */
};

/* The folder is before, name, after. */
struct congestion_folder {
	enum congestion_tree tree;
	enum congestion_name name;
	const char *before, *after;
	const char *commit;    /* file that takes what was written; NULL: each write counts */
	const char *made_in;   /* configfs folder in which somebody has to make that of IBDEV */
	const char *load_time; /* module whose parameters these are: read, not written */
	/* Drivers of the PCI device below the RDMA device that it is of; ends with NULL. NULL: it
	 * is known by its files alone. */
	const char *const *drivers;
	bool hexadecimal; /* as values are written */
};

struct congestion_file {
	uint8_t folder;
	uint8_t field; /* enum qos_field_id */
	uint8_t index; /* of qos_param_words[]; of the algorithm */
	uint8_t form;  /* enum congestion_form */
	const char *file;
	bool profiled; /* a service profile of the firmware may have taken it over */
};

extern const struct congestion_folder congestion_folders[];
extern const struct congestion_file congestion_files[];
extern const unsigned int congestion_file_count;

#endif
