/*
 * config_read - typed readers for the policy file's loader, each with its message
 *
 * Shared by config*.c alone. All return 0, CCR_EINVAL with the message set, or CCR_ENOMEM.
 */
#ifndef CCR_CORE_CONFIG_READ_H
#define CCR_CORE_CONFIG_READ_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/config.h"
#include "core/error.h"

struct ccr__reader {
	struct ccr_config *config;
	const char *name; /* of the text being read, for messages */
	bool preset;	  /* it is a preset's */
	int year;
	bool rank_optional; /* see struct ccr_config_options */
	char path[256];	    /* of the field being read: "groups.physics.target" */
	size_t path_len;
	struct ccr_error *err;

	/* What has to wait for the end of the text, as it may come in any order. */
	struct ccr_formula job_sort;
	int formula_column;
	unsigned formula_column_line;
	unsigned windows_line, hist_line; /* where keys of one usage model were given; 0: not */
	const char *windows_key;

	/* What the policy reads of a job's group: finish_policy() notes it for the warnings. */
	bool reads_target, reads_financial, reads_fairshare;
};

struct ccr__value {
	struct json_object *json; /* NULL is JSON's null */
	unsigned line;
};

struct ccr__key {
	const char *name;
	int (*read)(struct ccr__reader *r, const struct ccr__value *v, void *into, int arg);
	int arg;
};

/* The message `NAME:LINE: PATH: found FOUND, expected ...`; CCR_EINVAL. */
int ccr__bad(struct ccr__reader *r, unsigned line, const char *found, const char *expected, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with the value itself as what was found. */
int ccr__bad_value(struct ccr__reader *r, const struct ccr__value *v, const char *expected, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a warning `NAME:LINE: PATH: ...`. */
int ccr__warn(struct ccr__reader *r, unsigned line, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Goes down to a member in r->path and returns what ccr__leave() needs. */
size_t ccr__enter(struct ccr__reader *r, const char *key);
void ccr__leave(struct ccr__reader *r, size_t mark);

/* An object with known keys. what: "an object with the group's target, tier, ..." */
int ccr__object(struct ccr__reader *r, const struct ccr__value *v, const char *what,
		const struct ccr__key *keys, size_t count, void *into);
/* An object with free names: each() once a member, with the path already at it. */
int ccr__each(struct ccr__reader *r, const struct ccr__value *v, const char *what,
	      int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into),
	      void *into);
/* A list: each() once an element, key being "[0]" and so on. */
int ccr__list(struct ccr__reader *r, const struct ccr__value *v, const char *what,
	      int (*each)(struct ccr__reader *r, const char *key, const struct ccr__value *v,
			  void *into),
	      void *into);

/* A finite number in [least, most]; what says so: "a percentage from 0 to 100". */
int ccr__number(struct ccr__reader *r, const struct ccr__value *v, double least, double most,
		const char *what, double *out);
/* A whole number in [least, most]. */
int ccr__integer(struct ccr__reader *r, const struct ccr__value *v, int64_t least, int64_t most,
		 const char *what, int64_t *out);
int ccr__boolean(struct ccr__reader *r, const struct ccr__value *v, bool *out);
/* A text of 1 to most bytes; *out is malloc'd and replaces (frees) what was there. */
int ccr__text(struct ccr__reader *r, const struct ccr__value *v, size_t most, const char *what,
	      char **out);
/* One of names, as its index. */
int ccr__choice(struct ccr__reader *r, const struct ccr__value *v, const char *const *names,
		size_t count, int *out);
/* Seconds as a number, or a duration's text (duration.h), in [least, CCR_DURATION_MAX]. */
int ccr__duration(struct ccr__reader *r, const struct ccr__value *v, int64_t least, int64_t *out);

/* A free name (group, tier, partition, user): 1 to 255 bytes, nothing unprintable. */
int ccr__check_name(struct ccr__reader *r, const char *key, unsigned line, const char *what);
/* Names that are looked up one by one are limited to this many in a list. */
#define CCR__MOST_NAMES 1000
/* Refuses one more where there are CCR__MOST_NAMES; what: "constants". */
int ccr__check_room(struct ccr__reader *r, unsigned line, size_t count, const char *what);
/* " (did you mean X?)" into out, or "". */
const char *ccr__did_you_mean(const char *word, const char *const *known, size_t count, char *out,
			      size_t size);
int ccr__copy(struct ccr__reader *r, const char *text, char **out);
/* Makes *list one element of `size` bytes longer (zeroed); the caller counts. */
int ccr__grow(struct ccr__reader *r, void *list, size_t count, size_t size);

#endif
