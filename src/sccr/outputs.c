/* outputs - see outputs.h */
#include "sccr/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int io_error(const struct sccr_output *o, struct ccr_error *err)
{
	return ccr_error_set(err, CCR_EIO, 0, "%s: %s: %s", o->option, o->path, strerror(errno));
}

/* Opens the file as it is. It is *made where it was not there, at the end of links, too. */
static int open_kept(const char *path, bool *made)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	*made = fd >= 0;
	return fd;
}

static bool is_stdout(const struct sccr_output *o)
{
	return !strcmp(o->path, "-");
}

static int open_one(struct sccr_output *o, struct ccr_error *err)
{
	bool made = false;
	int fd =
	    is_stdout(o) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open_kept(o->path, &made);

	if (fd < 0)
		return io_error(o, err);
	o->made = made ? realpath(o->path, NULL) : NULL;
	o->file = fdopen(fd, "w"); /* fdopen does not empty it */
	if (!o->file) {
		close(fd);
		return ccr_error_nomem(err);
	}
	return CCR_OK;
}

/* Devices such as /dev/null and terminals take what several write. */
static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && !S_ISCHR(a->st_mode);
}

static int check_one(const struct sccr_output *out, size_t at, const struct sccr_kept *kept,
		     size_t n_kept, struct ccr_error *err)
{
	const struct sccr_output *o = &out[at];
	struct stat st, other;

	if (fstat(fileno(o->file), &st))
		return io_error(o, err);
	for (size_t i = 0; i < n_kept; i++) {
		int rc = kept[i].path	   ? stat(kept[i].path, &other)
			 : kept[i].fd >= 0 ? fstat(kept[i].fd, &other)
					   : -1;

		if (!rc && (same(&st, &other) || (is_stdout(o) && kept[i].fd == STDOUT_FILENO)))
			return ccr_error_set(err, CCR_EINVAL, 0, "%s: \"%.600s\" is %s", o->option,
					     o->path, kept[i].what);
	}
	for (size_t i = 0; i < at; i++)
		if (out[i].path && !fstat(fileno(out[i].file), &other) &&
		    (same(&st, &other) || (is_stdout(o) && is_stdout(&out[i]))))
			return ccr_error_set(err, CCR_EINVAL, 0, "%s: \"%.600s\" is the file of %s",
					     o->option, o->path, out[i].option);
	return CCR_OK;
}

int sccr_outputs_open(struct sccr_output *out, size_t n, const struct sccr_kept *kept,
		      size_t n_kept, struct ccr_error *err)
{
	int rc = CCR_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		if (!out[i].path)
			continue;
		rc = open_one(&out[i], err);
		if (!rc)
			rc = check_one(out, i, kept, n_kept, err);
	}
	return rc;
}

FILE *sccr_output_begin(struct sccr_output *o, struct ccr_error *err)
{
	struct stat st;

	if (is_stdout(o)) /* what was written there before stays there */
		return o->file;
	if (fstat(fileno(o->file), &st) || (S_ISREG(st.st_mode) && ftruncate(fileno(o->file), 0))) {
		io_error(o, err);
		return NULL;
	}
	o->begun = true;
	return o->file;
}

int sccr_output_end(struct sccr_output *o, struct ccr_error *err)
{
	int bad = fflush(o->file) || ferror(o->file);
	int rc = bad ? io_error(o, err) : CCR_OK;

	if (fclose(o->file) && !bad)
		rc = io_error(o, err);
	o->file = NULL;
	return rc;
}

void sccr_outputs_close(struct sccr_output *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (out[i].file)
			fclose(out[i].file);
		if (out[i].made && !out[i].begun)
			unlink(out[i].made);
		free(out[i].made);
		out[i].file = NULL;
		out[i].made = NULL;
	}
}
