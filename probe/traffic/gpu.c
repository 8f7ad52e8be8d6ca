/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs whose driver hands out its memory as dma-buf, by the driver that is bound to a PCI device.
 * Whether a program may use it is not looked at.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic_memory.h"
#include "profiles/base/small_file.h"

#define DEVICES_MAX 65536

/* Drivers that export device memory as dma-buf: linux drivers/gpu/drm, drivers/accel. "nvidia" does
 * so through CUDA (cuMemGetHandleForAddressRange). */
static const char *const exporters[] = {
	"amdgpu", "habanalabs", "i915", "nouveau", "nvidia", "xe",
};

/* A display controller or an accelerator: the audio function of a card has another driver. */
static bool is_gpu(const char *root, const char *address)
{
	char class[16];
	unsigned long value;

	if (!small_file_line(class, sizeof(class), root, "sys/bus/pci/devices/%s/class", address))
		return false;
	value = strtoul(class, NULL, 16) >> 16;
	return value == 0x03 || value == 0x12;
}

static bool exports(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++)
		if (!strcmp(exporters[i], driver))
			return true;
	return false;
}

bool gpu_find(const char *root, char *buf, size_t size)
{
	struct dirent **list = NULL;
	char path[PATH_MAX], driver[32];
	bool found = false;
	int n;

	buf[0] = '\0';
	if (snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root) >= (int)sizeof(path))
		return false;
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;

		if (!found && i < DEVICES_MAX && name[0] != '.' && is_gpu(root, name) &&
		    small_file_link(driver, sizeof(driver), root, "sys/bus/pci/devices/%s/driver",
				    name) &&
		    exports(driver)) {
			snprintf(buf, size, "%s %.20s", driver, name);
			found = true;
		}
		free(list[i]);
	}
	free(list);
	return found;
}
