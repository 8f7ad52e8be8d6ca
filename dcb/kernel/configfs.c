/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys/kernel/config/rdma_cm/IBDEV/ports/N/{default_roce_mode,default_roce_tos}. Paths are opened
 * below the root that dcb_open() was given; a device name from outside is one path element.
 */
#include "dcb/kernel/configfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/kernel/sysfs.h"

#define CM_PATH_MAX 256

bool configfs_has_rdma_cm(int root)
{
	return root >= 0 && !faccessat(root, "rdma_cm", F_OK, 0);
}

static int configfs_device_path(char *path, const char *ibdev)
{
	int n;

	if (!sysfs_is_element(ibdev))
		return -EINVAL;
	n = snprintf(path, CM_PATH_MAX, "rdma_cm/%s", ibdev);
	return n < CM_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int configfs_file_path(char path[CM_PATH_MAX + 64], int root, const char *ibdev,
			      unsigned int ib_port, const char *name)
{
	char device[CM_PATH_MAX];
	int err = root < 0 ? -ENOENT : configfs_device_path(device, ibdev);

	if (!err)
		snprintf(path, CM_PATH_MAX + 64, "%s/ports/%u/%s", device, ib_port, name);
	return err;
}

static const struct qos_word mode_words[] = {
	{"IB/RoCE v1", 1},
	{"RoCE v2", 2},
	{NULL, 0},
};

static const struct cm_row {
	enum qos_field_id field;
	const char *name;
	const struct qos_word *words; /* NULL: a number */
} cm_rows[] = {
	{QOS_ROCE_VERSION, "default_roce_mode", mode_words},
	{QOS_CM_TOS, "default_roce_tos", NULL},
};

static int configfs_parse_value(const struct cm_row *row, const char *text, uint8_t *value)
{
	unsigned long number;
	char *end;
	int word;

	if (row->words) {
		word = qos_word_value(row->words, text);
		*value = (uint8_t)word;
		return word < 0 ? -EBADMSG : 0;
	}
	errno = 0;
	number = strtoul(text, &end, 0);
	*value = (uint8_t)number;
	return errno || end == text || *end || number > 255 ? -EBADMSG : 0;
}

int configfs_read(int root, const char *ibdev, unsigned int ib_port, struct qos *q, struct err *e)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cm_rows); i++) {
		const struct cm_row *row = &cm_rows[i];
		char path[CM_PATH_MAX + 64], text[64];
		int err = configfs_file_path(path, root, ibdev, ib_port, row->name);
		uint8_t value;

		if (!err)
			err = (int)sysfs_read(root, path, text, sizeof(text));
		if (err == -ENOENT)
			continue;
		if (err >= 0) {
			text[strcspn(text, "\n")] = '\0';
			err = configfs_parse_value(row, text, &value);
		}
		if (err)
			return err_sys(e, err, "%s port %u: rdma_cm %s", ibdev, ib_port, row->name);
		*(uint8_t *)qos_slot(q, &qos_fields[row->field]) = value;
		q->has |= QOS_BIT(row->field);
	}
	return 0;
}

int configfs_write(int root, const char *ibdev, unsigned int ib_port, const struct qos *q,
		   uint64_t mask, struct err *e)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cm_rows); i++) {
		const struct cm_row *row = &cm_rows[i];
		const uint8_t *value = qos_member(q, &qos_fields[row->field]);
		const char *word = row->words ? qos_word_text(row->words, *value) : NULL;
		char path[CM_PATH_MAX + 64], number[8];
		int err;

		if (!(mask & QOS_BIT(row->field)))
			continue;
		snprintf(number, sizeof(number), "%u", *value);
		err = configfs_file_path(path, root, ibdev, ib_port, row->name);
		if (!err)
			err = sysfs_write(root, path, word ? word : number);
		if (err)
			return err_sys(e, err, "%s port %u: rdma_cm %s", ibdev, ib_port, row->name);
	}
	return 0;
}

int configfs_cm_dir_create(int root, const char *ibdev, bool *made, struct err *e)
{
	char path[CM_PATH_MAX];
	int err = configfs_device_path(path, ibdev);

	*made = false;
	if (!err && !configfs_has_rdma_cm(root)) {
		err_set(e, -EOPNOTSUPP, "%s: rdma_cm has no configfs directory", ibdev);
		err_hint(e, "mount configfs at /sys/kernel/config and load rdma_cm");
		return -EOPNOTSUPP;
	}
	if (!err && mkdirat(root, path, 0755) < 0)
		err = -errno;
	if (err == -EEXIST)
		return 0;
	if (err)
		return err_sys(e, err, "%s: rdma_cm configfs directory", ibdev);
	*made = true;
	return 0;
}

int configfs_cm_dir_remove(int root, const char *ibdev, struct err *e)
{
	char path[CM_PATH_MAX];
	int err = configfs_device_path(path, ibdev);

	if (!err && root >= 0 && unlinkat(root, path, AT_REMOVEDIR) < 0)
		err = -errno;
	if (err && err != -ENOENT)
		return err_sys(e, err, "%s: rdma_cm configfs directory", ibdev);
	return 0;
}
