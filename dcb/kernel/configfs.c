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

static const char *const mode_text[] = {[1] = "IB/RoCE v1", [2] = "RoCE v2"};

bool configfs_rdma_cm(int root)
{
	return root >= 0 && !faccessat(root, "rdma_cm", F_OK, 0);
}

static int device_path(char *path, const char *ibdev)
{
	int n;

	if (!sysfs_is_element(ibdev))
		return -EINVAL;
	n = snprintf(path, CM_PATH_MAX, "rdma_cm/%s", ibdev);
	return n < CM_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int file_open(int root, const char *ibdev, unsigned int ib_port, const char *name, int flags)
{
	char device[CM_PATH_MAX], path[CM_PATH_MAX + 64];
	int fd, err;

	if (root < 0)
		return -ENOENT;
	err = device_path(device, ibdev);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/ports/%u/%s", device, ib_port, name);
	fd = openat(root, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int file_read(int root, const char *ibdev, unsigned int ib_port, const char *name, char *buf,
		     size_t size)
{
	int fd = file_open(root, ibdev, ib_port, name, O_RDONLY);
	ssize_t n;
	int err;

	if (fd < 0)
		return fd;
	n = read(fd, buf, size - 1);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (err)
		return err;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int file_write(int root, const char *ibdev, unsigned int ib_port, const char *name,
		      const char *text)
{
	int fd = file_open(root, ibdev, ib_port, name, O_WRONLY | O_TRUNC);
	size_t size = strlen(text);
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return fd;
	n = write(fd, text, size);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != size)
		err = -EIO;
	close(fd);
	return err;
}

static int mode_parse(const char *text, uint8_t *value)
{
	for (uint8_t v = 1; v < ARRAY_SIZE(mode_text); v++) {
		if (strcmp(mode_text[v], text))
			continue;
		*value = v;
		return 0;
	}
	return -EBADMSG;
}

static int tos_parse(const char *text, uint8_t *value)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 0);
	if (errno || end == text || *end || v > 255)
		return -EBADMSG;
	*value = v;
	return 0;
}

static void mode_print(uint8_t value, char *buf, size_t size)
{
	snprintf(buf, size, "%s", mode_text[value == 2 ? 2 : 1]);
}

static void tos_print(uint8_t value, char *buf, size_t size)
{
	snprintf(buf, size, "%u", value);
}

static const struct cm_row {
	enum qos_field_id field;
	const char *name;
	int (*parse)(const char *text, uint8_t *value);
	void (*print)(uint8_t value, char *buf, size_t size);
} cm_rows[] = {
	{QOS_ROCE_VERSION, "default_roce_mode", mode_parse, mode_print},
	{QOS_CM_TOS, "default_roce_tos", tos_parse, tos_print},
};

int configfs_read(int root, const char *ibdev, unsigned int ib_port, struct qos *q, struct err *e)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cm_rows); i++) {
		const struct cm_row *row = &cm_rows[i];
		uint8_t value;
		char text[64];
		int err = file_read(root, ibdev, ib_port, row->name, text, sizeof(text));

		if (err == -ENOENT)
			continue;
		if (!err)
			err = row->parse(text, &value);
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
		char text[64];
		int err;

		if (!(mask & QOS_BIT(row->field)))
			continue;
		row->print(*value, text, sizeof(text));
		err = file_write(root, ibdev, ib_port, row->name, text);
		if (err)
			return err_sys(e, err, "%s port %u: rdma_cm %s", ibdev, ib_port, row->name);
	}
	return 0;
}

int configfs_make(int root, const char *ibdev, bool *made, struct err *e)
{
	char path[CM_PATH_MAX];
	int err = device_path(path, ibdev);

	*made = false;
	if (!err && !configfs_rdma_cm(root)) {
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

int configfs_remove(int root, const char *ibdev, struct err *e)
{
	char path[CM_PATH_MAX];
	int err = device_path(path, ibdev);

	if (!err && root >= 0 && unlinkat(root, path, AT_REMOVEDIR) < 0)
		err = -errno;
	if (err && err != -ENOENT)
		return err_sys(e, err, "%s: rdma_cm configfs directory", ibdev);
	return 0;
}
