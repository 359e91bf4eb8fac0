/* atomic_file - see atomic_file.h */
#include "core/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Without this the rename itself can be lost with the machine. A folder that cannot be opened (no
 * read permission) is no reason to fail: the data are on disk under one of the two names. */
static void sync_folder(const char *path)
{
	char copy[PATH_MAX];
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
}

int ccr_atomic_replace(const char *path, const void *data, size_t len, mode_t mode,
		       struct ccr_error *err)
{
	char tmp[PATH_MAX];
	int fd, n = snprintf(tmp, sizeof(tmp), "%s.new", path);
	const char *what = "create";

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return ccr_error_set(err, CCR_EIO, 0, "%.200s...: the path is too long", path);
	(void)unlink(tmp); /* never through a link that somebody left there */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd >= 0) {
		int bad = 0;

		what = "write";
		bad = write_all(fd, data, len) || fsync(fd);
		if (close(fd) && !bad)
			bad = 1;
		if (!bad) {
			what = "rename";
			if (rename(tmp, path) == 0)
				return CCR_OK;
		}
	}
	n = errno;
	(void)unlink(tmp);
	return ccr_error_set(err, CCR_EIO, 0, "%s: cannot %s %s.new: %s", path, what, path,
			     strerror(n));
}

int ccr_atomic_write(const char *path, const void *data, size_t len, mode_t mode,
		     struct ccr_error *err)
{
	int rc = ccr_atomic_replace(path, data, len, mode, err);

	if (!rc)
		sync_folder(path);
	return rc;
}
