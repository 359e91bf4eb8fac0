/* sim_input - see sim_input.h */
#include "sccr/sim_input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often it is told that standard input is waited for. */
#define TELL_NS 250000000L

static int io_error(const char *name, struct ccr_error *err)
{
	return ccr_error_set(err, CCR_EIO, 0, "%s: %s", name, strerror(errno));
}

int sim_input_interrupted(struct sim_input *in, const char *name, struct ccr_error *err)
{
	in->interrupted = true;
	return ccr_error_set(err, CCR_EIO, 0, "%s: interrupted while it was read: no figures",
			     name);
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/*
 * Waits a while until standard input has something, or its end: false if it does not. The signals
 * that set *stop are kept away but for the waiting: one between the look at it and poll() would go
 * unseen until there is input.
 */
static bool wait_for_stdin(const struct sim_watch *watch)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct timespec pause = {0, TELL_NS};
	sigset_t held, before;
	int n = 0;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, &before);
	if (!sim_watch_stopped(watch))
		n = ppoll(&p, 1, &pause, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return n > 0;
}

/* Copies it to its end or till *stop. -1: see errno. */
static int copy(FILE *to, const struct sim_watch *watch)
{
	/* a bar would go over what somebody types */
	const struct sim_watch *told = isatty(STDIN_FILENO) ? NULL : watch;
	uint64_t bytes = 0, size = size_of(STDIN_FILENO);
	char buf[65536];

	for (;;) {
		bool ready = wait_for_stdin(watch);
		ssize_t n;

		if (sim_watch_stopped(watch))
			return 0;
		sim_watch_tell(told, "reading", bytes, size);
		if (!ready)
			continue;
		n = read(STDIN_FILENO, buf, sizeof(buf));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		if (n == 0)
			return fflush(to);
		if (n > 0 && fwrite(buf, 1, (size_t)n, to) != (size_t)n)
			return -1;
		bytes += n > 0 ? (uint64_t)n : 0;
	}
}

/* Standard input cannot be read twice: a temporary file can. */
static int copy_of_stdin(struct sim_input *in, const char *name, const struct sim_watch *watch,
			 struct ccr_error *err)
{
	int rc;

	in->file = tmpfile();
	if (!in->file)
		return io_error("a temporary file", err);
	rc = copy(in->file, watch) ? io_error(name, err) : CCR_OK;
	return !rc && sim_watch_stopped(watch) ? sim_input_interrupted(in, name, err) : rc;
}

/* What is at the start of a file that has to be unpacked first. */
static int refuse_packed(const unsigned char *head, size_t n, const char *name,
			 struct ccr_error *err)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *kind, *by;
	} packed[] = {{"\x1f\x8b", 2, "gzip", "gunzip"},
		      {"BZh", 3, "bzip2", "bunzip2"},
		      {"\xfd"
		       "7zXZ",
		       5, "xz", "unxz"},
		      {"\x28\xb5\x2f\xfd", 4, "zstd", "unzstd"},
		      {"PK\x03\x04", 4, "zip", "unzip"}};

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (n >= packed[i].len && !memcmp(head, packed[i].magic, packed[i].len))
			return ccr_error_set(err, CCR_EINVAL, 0,
					     "%s: is compressed (%s): %s it first", name,
					     packed[i].kind, packed[i].by);
	return CCR_OK;
}

int sim_input_open(struct sim_input *in, const char *path, const char *name,
		   const struct sim_watch *watch, struct ccr_error *err)
{
	unsigned char head[8];
	size_t n;
	int rc = CCR_OK;

	memset(in, 0, sizeof(*in));
	if (strcmp(path, "-") != 0) {
		in->file = fopen(path, "re");
		/* a pipe with a name opens when somebody writes to it */
		if (!in->file && sim_watch_stopped(watch))
			return sim_input_interrupted(in, name, err);
		if (!in->file)
			return io_error(name, err);
	} else {
		rc = copy_of_stdin(in, name, watch, err);
	}
	if (rc)
		return rc;
	if (fseek(in->file, 0, SEEK_SET))
		return ccr_error_set(err, CCR_EIO, 0,
				     "%s: not a file that can be read twice: give it as -", name);
	in->size = size_of(fileno(in->file));
	n = fread(head, 1, sizeof(head), in->file);
	if (ferror(in->file))
		return io_error(name, err);
	/* a byte order mark, as spreadsheets leave it */
	if (n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
		in->start = 3;
	rc = refuse_packed(head, n, name, err);
	if (!rc && fseek(in->file, in->start, SEEK_SET))
		rc = io_error(name, err);
	return rc;
}
