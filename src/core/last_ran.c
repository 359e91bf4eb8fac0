/* last_ran - see last_ran.h */
#include "core/last_ran.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/atomic_file.h"

enum { RECORD = 2 * sizeof(int64_t) };

/* Reads up to `size` bytes; the number read, or -1 with errno. */
static ssize_t read_all(int fd, unsigned char *to, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, to + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int64_t get64(const unsigned char *from)
{
	uint64_t raw;

	memcpy(&raw, from, sizeof(raw));
	return (int64_t)be64toh(raw);
}

static void put64(unsigned char *to, int64_t value)
{
	uint64_t raw = htobe64((uint64_t)value);

	memcpy(to, &raw, sizeof(raw));
}

int ccr_last_ran_read(const char *path, struct ccr_last_ran *out, struct ccr_error *err)
{
	unsigned char buf[RECORD];
	ssize_t got;
	int64_t ran, reset;
	int fd;

	out->ran = 0;
	out->reset = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return CCR_OK;
	if (fd < 0)
		return ccr_error_set(err, CCR_EIO, 0, "%s: %s", path, strerror(errno));
	got = read_all(fd, buf, sizeof(buf));
	if (got < 0) {
		int why = errno;

		close(fd);
		return ccr_error_set(err, CCR_EIO, 0, "%s: %s", path, strerror(why));
	}
	close(fd);
	if (got < RECORD)
		return ccr_error_set(err, CCR_EINVAL, 0, "%s: %d bytes where %d are expected", path,
				     (int)got, (int)RECORD);
	ran = get64(buf);
	reset = get64(buf + sizeof(int64_t));
	if (ran < 0 || reset < 0)
		return ccr_error_set(err, CCR_EINVAL, 0,
				     "%s: times %lld and %lld, neither may be negative", path,
				     (long long)ran, (long long)reset);
	out->ran = (time_t)ran;
	out->reset = (time_t)reset;
	return CCR_OK;
}

int ccr_last_ran_write(const char *path, const struct ccr_last_ran *in, struct ccr_error *err)
{
	char old[PATH_MAX];
	unsigned char buf[RECORD];

	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return ccr_error_set(err, CCR_EINVAL, 0, "%.200s...: the path is too long", path);
	put64(buf, (int64_t)in->ran);
	put64(buf + sizeof(int64_t), (int64_t)in->reset);
	/* What was there stays as PATH.old, as Slurm keeps all of its state; a first start has
	 * none. */
	unlink(old);
	if (link(path, old) && errno != ENOENT && errno != EPERM)
		return ccr_error_set(err, CCR_EIO, 0, "%s: %s", old, strerror(errno));
	/*
	 * Written at each cycle. A machine that goes down may bring back the time before: at the
	 * most what ran in one cycle is then counted twice, as under priority/multifactor.
	 */
	return ccr_atomic_replace(path, buf, sizeof(buf), 0600, err);
}
