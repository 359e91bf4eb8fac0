/*
 * error - what went wrong, as a value
 *
 * Core functions that can fail take a `ccr_error *` last and return 0, or one of the codes below.
 * The message is complete: it needs no prefix to be shown to an admin. Nothing is allocated, so an
 * out-of-memory error can be reported as well. `err` may be NULL where the caller does not care.
 */
#ifndef CCR_CORE_ERROR_H
#define CCR_CORE_ERROR_H

enum ccr_code {
	CCR_OK = 0,
	CCR_ENOMEM = 1, /* an allocation failed; nothing was changed */
	CCR_EINVAL = 2, /* the input is wrong; the message says where and what was expected */
	CCR_EIO = 3,	/* a file cannot be read or written; the message has the system's reason */
};

struct ccr_error {
	int code;	 /* enum ccr_code */
	unsigned line;	 /* 1-based line in the input, 0 where there is none */
	char text[1000]; /* for people; always terminated */
};

/* Sets *err (if not NULL) and returns code. */
int ccr_error_set(struct ccr_error *err, int code, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The usual message for CCR_ENOMEM; returns CCR_ENOMEM. */
int ccr_error_nomem(struct ccr_error *err);

#endif
