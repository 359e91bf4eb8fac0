/* error - see error.h */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

int ccr_error_set(struct ccr_error *err, int code, unsigned line, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->line = line;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int ccr_error_nomem(struct ccr_error *err)
{
	return ccr_error_set(err, CCR_ENOMEM, 0, "out of memory");
}
