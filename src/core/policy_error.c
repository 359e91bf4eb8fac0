/* policy_error - see policy_error.h */
#include "core/policy_error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/nearest.h"

#define END_OF_EXPR	       2
#define UNEXPECTED_PARENTHESIS 7
#define NEAR		       24 /* characters that are shown of the place */

/* By muParser's EErrorCodes (muParserDef.h, whose header is C++ and cannot be included). */
static const struct {
	const char *found, *expected;
} words[] = {
    [0] = {"an operator", "a value before it"},
    [1] = {"something unknown", "a number, a variable, a function or an operator"},
    [END_OF_EXPR] = {"the end", "a value"},
    [3] = {"a comma", "one value; commas separate a function's arguments"},
    [4] = {"several values in parentheses", "the name of a function before them"},
    [5] = {"a number", "an operator before it"},
    [6] = {"a variable", "an operator before it"},
    [7] = {"a parenthesis", "one that has its other half, with a value in between"},
    [8] = {"a string", "numbers only"},
    [9] = {"a number", "a string"},
    [10] = {"a string", "a number"},
    [11] = {"a missing parenthesis", "as many ')' as '('"},
    [12] = {"a function", "an operator before it, and parentheses behind it"},
    [13] = {"a string without an end", "numbers only"},
    [14] = {"too many arguments", "as many as the function has"},
    [15] = {"too few arguments", "as many as the function has"},
    [16] = {"an operator", "values that it can take"},
    [17] = {"a string", "a number as the result"},
    [18] = {"a name that cannot be one", "letters, digits and _"},
    [25] = {"nothing", "an expression"},
    [26] = {"a name that is taken", "a new one"},
    [28] = {"a value outside a function's domain", "one inside it"},
    [29] = {"a division by zero", "a divisor that is not 0"},
    [32] = {"a '?'", "a condition before it"},
    [33] = {"a '?' without ':'", "CONDITION ? VALUE : VALUE"},
    [34] = {"a ':'", "CONDITION ? VALUE : VALUE"},
    [36] = {"a name that is too long", "one of the variables of ccr.json(5)"},
    [37] = {"an expression that is too long", "a shorter one"},
    [38] = {"a character that does not print", "printable ASCII"},
    /* its "internal error": it ran out of values */
    [39] = {"an operator without a value behind it", "a value on both of its sides"},
};

static const char *const functions[] = {
    "sin",   "cos",   "tan",   "asin", "acos", "atan",	"atan2", "sinh",  "cosh", "tanh",
    "asinh", "acosh", "atanh", "log",  "log2", "log10", "ln",	 "exp",	  "sqrt", "sign",
    "rint",  "abs",   "min",   "max",  "sum",  "avg",	"ceil",	 "floor", "pow"};

bool ccr__policy_is_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i], name))
			return true;
	}
	return false;
}

/* The name that ends right before a place; false if there is none, or it is too long. */
static bool name_before(const char *expr, size_t at, char *out, size_t size)
{
	size_t start = at;

	while (start && (isalnum((unsigned char)expr[start - 1]) || expr[start - 1] == '_'))
		start--;
	if (start == at || at - start >= size)
		return false;
	memcpy(out, expr + start, at - start);
	out[at - start] = '\0';
	return true;
}

size_t ccr__policy_find_name(const char *expr, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = expr; n && (at = strstr(at, name)); at++) {
		bool starts = at == expr || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');

		if (starts && !isalnum((unsigned char)at[n]) && at[n] != '_')
			return (size_t)(at - expr) + 1;
	}
	return 0;
}

const char *ccr__policy_error(int code, int position, const char *expr, char *out, size_t size)
{
	const char *found = "something that muParser refuses", *expected = "an expression";
	size_t len = strlen(expr);
	char near[80];

	if (code >= 0 && (size_t)code < sizeof(words) / sizeof(words[0]) && words[code].found) {
		found = words[code].found;
		expected = words[code].expected;
	}
	if (position < 0 || !len) {
		snprintf(out, size, "found %s, expected %s", found, expected);
		return out;
	}
	if ((size_t)position >= len) {
		const char *last = expr + (len > NEAR ? len - NEAR : 0);

		ccr_json_printable(last, strlen(last), near, sizeof(near));
		snprintf(out, size, "found %s%s (behind '%s'), expected %s", found,
			 code == END_OF_EXPR ? "" : " at the end", near, expected);
		return out;
	}
	if (code == UNEXPECTED_PARENTHESIS && expr[position] == '(' &&
	    name_before(expr, (size_t)position, near, sizeof(near))) {
		const char *meant =
		    ccr_nearest(near, functions, sizeof(functions) / sizeof(functions[0]));

		snprintf(out, size,
			 "found the unknown function '%s' at character %zu, expected one of "
			 "ccr.json(5)%s%s%s",
			 near, (size_t)position + 1 - strlen(near), meant ? "; did you mean '" : "",
			 meant ? meant : "", meant ? "'?" : "");
		return out;
	}
	ccr_json_printable(expr + position, len - (size_t)position, near, NEAR);
	snprintf(out, size, "found %s at character %d (near '%s'), expected %s", found,
		 position + 1, near, expected);
	return out;
}
