/* clients - see clients.h */
#include "sccr/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sccr/safe.h"

extern char **environ;

/* Seconds of a clock that nobody sets. */
static double clock_now(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Is there something to read by then? until 0: there is no end to waiting. */
static bool comes(int fd, double until)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	double left = until - clock_now();
	int n;

	if (until == 0)
		return true;
	while ((n = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0)) < 0 && errno == EINTR)
		left = until - clock_now();
	return n != 0;
}

/*
 * All of a stream, terminated; NULL: out of memory or unreadable, or, with ETIMEDOUT, no more of it
 * came by then.
 */
static char *read_all(int fd, double until)
{
	size_t n = 0, room = 65536;
	char *text = malloc(room);

	while (text) {
		ssize_t got;

		if (n + 1 == room) {
			char *more = realloc(text, room * 2);

			if (!more)
				break;
			text = more;
			room *= 2;
		}
		if (!comes(fd, until)) {
			errno = ETIMEDOUT;
			break;
		}
		got = read(fd, text + n, room - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			text[n] = '\0';
			if (got == 0)
				return text;
			break;
		}
		n += (size_t)got;
	}
	free(text);
	return NULL;
}

/* Names are whatever users made them: nothing in them may reach a terminal as a command. */
static void defuse(char *text)
{
	char *safe = NULL;
	size_t plain = 0;

	while (text[plain] >= 0x20 && text[plain] < 0x7f)
		plain++;
	if (!text[plain])
		return;
	safe = sccr_safe_copy(text);
	if (safe && strlen(safe) <= strlen(text)) {
		memcpy(text, safe, strlen(safe) + 1);
	} else {
		for (char *c = text + plain; *c; c++)
			if (*c < 0x20 || *c == 0x7f) /* and what is no ASCII */
				*c = '?';
	}
	free(safe);
}

/* The last line of a file, for a message. */
static void last_line(int fd, char *out, size_t size)
{
	char *text, *end;

	out[0] = '\0';
	if (lseek(fd, 0, SEEK_SET) != 0 || !(text = read_all(fd, 0)))
		return;
	end = text + strlen(text);
	while (end > text && (end[-1] == '\n' || end[-1] == ' '))
		*--end = '\0';
	while (end > text && end[-1] != '\n')
		end--;
	snprintf(out, size, "%s", end);
	defuse(out); /* and what was cut in the middle of a character */
	free(text);
}

/*
 * The environment without what changes the clients' answers: whoever has SQUEUE_USERS or
 * SLURM_TIME_FORMAT set for his own eyes would get a queue of his jobs alone, or times that nobody
 * can read. The lists of arrays' tasks are to be whole: squeue cuts them at 64 characters, and a
 * task behind that would not be there. free(); NULL: out of memory.
 */
static char **plain_environment(void)
{
	static const char *const names[] = {"SQUEUE_",		"SINFO_",    "SPRIO_",
					    "SACCT_",		"SCONTROL_", "SLURM_TIME_FORMAT=",
					    "SLURM_BITSTR_LEN="};
	static char whole_lists[] = "SLURM_BITSTR_LEN=0";
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		bool drop = false;

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			drop = drop || !strncmp(environ[i], names[k], strlen(names[k]));
		if (!drop)
			env[kept++] = environ[i];
	}
	if (env)
		env[kept] = whole_lists;
	return env;
}

/* Is the answer there? late: seconds after which the command was ended; 0: it was not. */
static int judge(char *const argv[], const char *text, int late, int status, int errors,
		 struct ccr_error *err)
{
	char why[300];

	if (late)
		return ccr_error_set(err, CCR_EIO, 0, "%s: nothing came within %d s", argv[0],
				     late);
	if (!text)
		return ccr_error_nomem(err);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return CCR_OK;
	last_line(errors, why, sizeof(why));
	return ccr_error_set(err, CCR_EIO, 0, "%s: %s", argv[0], why[0] ? why : "it failed");
}

/* seconds: how long to wait for it; 0: without end. */
static int run(char *const argv[], int seconds, char **text, struct ccr_error *err)
{
	posix_spawn_file_actions_t files;
	char **env = plain_environment();
	FILE *errors = tmpfile();
	int pipes[2], status = 0, rc;
	int late;
	pid_t pid;

	*text = NULL;
	if (!env || !errors || pipe2(pipes, O_CLOEXEC)) {
		rc = ccr_error_set(err, CCR_EIO, 0, "cannot run %s: %s", argv[0], strerror(errno));
		if (errors)
			fclose(errors);
		free(env);
		return rc;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
	posix_spawn_file_actions_adddup2(&files, fileno(errors), 2);
	rc = posix_spawnp(&pid, argv[0], &files, NULL, argv, env);
	free(env);
	posix_spawn_file_actions_destroy(&files);
	close(pipes[1]);
	if (rc) {
		rc = ccr_error_set(err, CCR_EIO, 0, "cannot run %s: %s", argv[0], strerror(rc));
	} else {
		*text = read_all(pipes[0], seconds ? clock_now() + seconds : 0);
		late = !*text && errno == ETIMEDOUT ? seconds : 0;
		if (late)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		rc = judge(argv, *text, late, status, fileno(errors), err);
	}
	close(pipes[0]);
	fclose(errors);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

static size_t count(const char *s, char c)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

static char **cut(char *line, char separator, size_t fields_min)
{
	static char nothing[] = "";
	size_t n = count(line, separator) + 1;
	char **f = calloc(n > fields_min ? n : fields_min, sizeof(*f));

	if (!f)
		return NULL;
	for (size_t k = 0; k < n; k++)
		f[k] = k ? strchr(f[k - 1], separator) + 1 : line;
	for (size_t k = 1; k < n; k++)
		f[k][-1] = '\0';
	for (size_t k = 0; k < n; k++)
		defuse(f[k]);
	for (size_t k = n; k < fields_min; k++)
		f[k] = nothing;
	return f;
}

/* Splits text at `record` (the line's end goes with it) and each record at `separator`. */
static int cut_all(struct client_rows *out, char record, char separator, size_t fields_min,
		   struct ccr_error *err)
{
	const char ends[] = {record, '\0'};
	char *save = NULL;

	out->row = calloc(count(out->text, record) + 1, sizeof(*out->row));
	if (!out->row) {
		client_rows_free(out);
		return ccr_error_nomem(err);
	}
	for (char *l = strtok_r(out->text, ends, &save); l; l = strtok_r(NULL, ends, &save)) {
		size_t len = strlen(l);

		if (record != '\n' && len && l[len - 1] == '\n')
			l[--len] = '\0';
		if (!len)
			continue;
		out->row[out->n] = cut(l, separator, fields_min);
		if (!out->row[out->n]) {
			client_rows_free(out);
			return ccr_error_nomem(err);
		}
		out->n++;
	}
	return CCR_OK;
}

static int run_and_cut(char *const argv[], int seconds, char record, char separator,
		       size_t fields_min, struct client_rows *out, struct ccr_error *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = run(argv, seconds, &out->text, err);
	return rc ? rc : cut_all(out, record, separator, fields_min, err);
}

int client_run(char *const argv[], size_t fields_min, struct client_rows *out,
	       struct ccr_error *err)
{
	return run_and_cut(argv, 0, '\n', '|', fields_min, out, err);
}

int client_run_lines(char *const argv[], size_t fields_min, struct client_rows *out,
		     struct ccr_error *err)
{
	return run_and_cut(argv, 0, '\n', CLIENT_FIELD[0], fields_min, out, err);
}

int client_run_lines_within(char *const argv[], size_t fields_min, int seconds,
			    struct client_rows *out, struct ccr_error *err)
{
	return run_and_cut(argv, seconds, '\n', CLIENT_FIELD[0], fields_min, out, err);
}

int client_run_safe(char *const argv[], size_t fields_min, struct client_rows *out,
		    struct ccr_error *err)
{
	return run_and_cut(argv, 0, CLIENT_RECORD[0], CLIENT_FIELD[0], fields_min, out, err);
}

void client_rows_free(struct client_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->row[i]);
	free(rows->row);
	free(rows->text);
	memset(rows, 0, sizeof(*rows));
}

int client_show_config(struct client_rows *out, struct ccr_error *err)
{
	char *const argv[] = {"scontrol", "show", "config", NULL};

	return client_run(argv, 1, out, err);
}

char *client_config(const struct client_rows *config, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < config->n; i++) {
		const char *line = config->row[i][0], *eq = strstr(line, " = ");

		if (eq && strncasecmp(line, key, n) == 0 && (line[n] == ' ' || line[n] == '='))
			return strdup(eq + 3);
	}
	return NULL;
}
