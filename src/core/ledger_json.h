/*
 * ledger_json - reads a ledger from its text, which people can write too
 *
 *	{
 *	  "version": 1,
 *	  "time": 1764485520,
 *	  "charged_until": 1764485520,
 *	  "model": {"kind": "halflife", "half_life_s": 604800},
 *	  "usage": [
 *	    {"account": "physics", "user": "ann", "partition": "gpu", "qos": "normal",
 *	     "billed_s": 86400, "slot_s": 7200.5}
 *	  ],
 *	  "check": "1c291ca3"
 *	}
 *
 * version        1.
 * time           the moment, in seconds since 1970, as of which the amounts are meant. Left out:
 *now. charged_until  running jobs have been charged up to here. Left out: time. Not after time.
 * model          {"kind": "halflife", "half_life_s": S}, {"kind": "windows", "interval_s": S,
 *"depth": N, "decay": D} or {"kind": "lsf", "hist_hours": H}, see usage_model.h. Left out: what the
 *                reader is configured for. A parameter left out has ccr_usage_model_default's
 *value. usage          one member an entry, all in one line when written here. account, user,
 *partition, qos: left out is "". billed_s, slot_s: seconds, 0 or more; left out is 0. Under windows
 *an array, the present window first (a number alone is the present window's). check          CRC-32
 *in hexadecimal of all bytes before the comma that precedes this member, which is the last. Left
 *out, as in a file written by hand, nothing is held against it; so who edits a saved file takes it
 *out.
 *
 * Numbers are written in the shortest of 15, 16 or 17 digits that reads back as the same double.
 *Names are bytes: what is not UTF-8 goes in and comes out as it is. Unknown members are refused: a
 *misspelt one would silently count as 0.
 */
#ifndef CCR_CORE_LEDGER_JSON_H
#define CCR_CORE_LEDGER_JSON_H

#include "core/ledger.h"

/* The members that hold the measures' amounts: "billed_s", "slot_s". */
extern const char *const ccr__measure_names[CCR_MEASURES];

/*
 * Reads len bytes of text; name is the file's, for messages. now stands for a missing time, model
 * (NULL: a half-life of 7 days) for a missing model; where the text has a model, the ledger gets
 * that one. The totals are rolled up. *out is the caller's, to be ended by ccr_ledger_free.
 * CCR_EINVAL: the message is `NAME:LINE: ...`, or `NAME: ...` where no line is known; CCR_ENOMEM.
 * *out is NULL then.
 */
int ccr_ledger_parse(const char *text, size_t len, const char *name, int64_t now,
		     const struct ccr_usage_model *model, struct ccr_ledger **out,
		     struct ccr_error *err);

#endif
