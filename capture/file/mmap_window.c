/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps parts of a file in turn into one address range. The range and each part begin at a huge
 * page: a large folio of the page cache then needs one page table entry instead of 512
 * (do_set_pmd() in mm/memory.c), which is most of the cost of mapping. Pages beyond a truncated
 * file raise SIGBUS; its handler maps a page of zeros there. A handler finds the windows only
 * through a global variable.
 */
#include "capture/file/mmap_window.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_PAGE  ((size_t)2 << 20) /* of x86-64, and of arm64 with pages of 4 KiB */
#define LARGE_PAGES 2		      /* of one part */

struct mmap_window {
	int fd;
	size_t page;	/* bytes */
	size_t most;	/* maximum request, whole pages: the range has them after a part */
	size_t mapped;	/* mapped bytes of the range, whole pages */
	uint8_t *range; /* pages that were not mapped yet read as zeros */
	void *reserved; /* contains the range */
	size_t reserved_bytes;
	atomic_bool truncated;
};

static struct {
	struct mmap_window *_Atomic window[MMAP_WINDOWS_MAX];
	struct sigaction before; /* previous handler */
} known;

static size_t window_part_bytes(const struct mmap_window *w)
{
	return LARGE_PAGES * LARGE_PAGE + w->most;
}

static struct mmap_window *window_at(const uint8_t *address)
{
	for (unsigned int i = 0; i < MMAP_WINDOWS_MAX; i++) {
		struct mmap_window *w = atomic_load(&known.window[i]);

		if (w && address >= w->range && address < w->range + window_part_bytes(w))
			return w;
	}
	return NULL;
}

/* Calls only mmap() and sigaction(), which are plain system calls. */
static void window_on_sigbus(int number, siginfo_t *info, void *context)
{
	struct mmap_window *w = window_at(info->si_addr);
	int saved = errno;
	uint8_t *page;

	(void)context;
	if (w) {
		page = w->range + ((size_t)((uint8_t *)info->si_addr - w->range) & ~(w->page - 1));
		if (mmap(page, w->page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) != MAP_FAILED) {
			atomic_store(&w->truncated, true);
			errno = saved;
			return;
		}
	}
	/* The signal repeats and reaches the previous handler. */
	sigaction(number, &known.before, NULL);
	errno = saved;
}

/* Sets the handler again if another one replaced it. */
static bool window_set_handler(void)
{
	struct sigaction action = {.sa_sigaction = window_on_sigbus, .sa_flags = SA_SIGINFO}, now;

	if (sigaction(SIGBUS, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == window_on_sigbus)
		return true;
	known.before = now;
	return sigaction(SIGBUS, &action, NULL) == 0;
}

/* NULL is a free entry. False: `from` is not in the list. */
static bool window_replace_known(struct mmap_window *from, struct mmap_window *to)
{
	for (unsigned int i = 0; i < MMAP_WINDOWS_MAX; i++) {
		struct mmap_window *it = from;

		if (atomic_compare_exchange_strong(&known.window[i], &it, to))
			return true;
	}
	return false;
}

/* The range and one more page: reads after the last byte are valid. */
static bool window_reserve(struct mmap_window *w)
{
	w->reserved_bytes = window_part_bytes(w) + w->page + LARGE_PAGE;
	w->reserved = mmap(NULL, w->reserved_bytes, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->reserved == MAP_FAILED)
		return false;
	w->range = (uint8_t *)w->reserved + (-(uintptr_t)w->reserved & (LARGE_PAGE - 1));
	return true;
}

struct mmap_window *mmap_window_new(int fd, size_t bytes)
{
	struct mmap_window *w = calloc(1, sizeof(*w));
	size_t have;

	if (!w)
		return NULL;
	w->fd = fd;
	w->page = (size_t)sysconf(_SC_PAGESIZE);
	w->most = (bytes + w->page - 1) & ~(w->page - 1);
	if (!window_reserve(w)) {
		free(w);
		return NULL;
	}
	if (window_set_handler() && window_replace_known(NULL, w) &&
	    mmap_window_map(w, 0, 1, &have) && have)
		return w;
	mmap_window_free(w);
	return NULL;
}

void mmap_window_free(struct mmap_window *w)
{
	if (!w)
		return;
	(void)window_replace_known(w, NULL); /* may be absent */
	munmap(w->reserved, w->reserved_bytes);
	free(w);
}

/* Unmaps the file after the new part. */
static bool window_clear_from(struct mmap_window *w, size_t from)
{
	return from >= w->mapped ||
	       mmap(w->range + from, w->mapped - from, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

const uint8_t *mmap_window_map(struct mmap_window *w, uint64_t at, size_t want, size_t *have)
{
	size_t lead = (size_t)at & (LARGE_PAGE - 1), there = window_part_bytes(w) - lead, len;
	struct stat st;

	if (want > w->most || fstat(w->fd, &st) < 0)
		return NULL;
	if (st.st_size <= 0 || at >= (uint64_t)st.st_size)
		there = 0;
	else if ((uint64_t)st.st_size - at < there)
		there = (size_t)((uint64_t)st.st_size - at);
	len = there ? (lead + there + w->page - 1) & ~(w->page - 1) : 0;
	if (!window_clear_from(w, len))
		return NULL;
	w->mapped = 0;
	if (len && mmap(w->range, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, w->fd,
			(off_t)(at - lead)) == MAP_FAILED)
		return NULL;
	w->mapped = len;
	if (len)
		(void)madvise(w->range, len, MADV_SEQUENTIAL); /* only faster */
	*have = there;
	return w->range + (there ? lead : 0);
}

bool mmap_window_is_truncated(const struct mmap_window *w)
{
	return atomic_load(&w->truncated);
}
