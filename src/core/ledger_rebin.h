/*
 * ledger_rebin - an entry's numbers under another decay model
 *
 * What is known of an entry is one decayed number (HALFLIFE, LSF) or an amount a window. Under
 * another model this becomes, keeping what can be kept:
 *
 *   windows -> windows   an amount is taken as spread evenly over its window (the present one: over
 * the part that has passed) and goes to the new windows in proportion to the overlap; what falls
 * beyond the new depth is dropped, as it would have been with time. A new depth or decay alone
 * therefore moves nothing. windows -> others    each amount, spread evenly likewise, is decayed to
 * now. others  -> windows   the number as it stands goes to window 0: it is usage in today's worth,
 * and when it arose is no longer known. others  -> others    the number stays; it decays at the new
 * rate from now on.
 */
#ifndef CCR_CORE_LEDGER_REBIN_H
#define CCR_CORE_LEDGER_REBIN_H

#include "core/usage_model.h"

/*
 * Converts the numbers of one measure at the moment `time`: src has ccr_usage_bins(from) numbers,
 * dst is set to ccr_usage_bins(to) numbers. Both models have passed ccr_usage_model_check.
 */
void ccr__ledger_rebin(const struct ccr_usage_model *from, const struct ccr_usage_model *to,
		       int64_t time, const double *src, double *dst);

#endif
