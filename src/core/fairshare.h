/*
 * fairshare - the numbers of one association: normalised and effective usage, fairshare factor
 *
 * The formulas are those that Slurm documents for its two fairshare algorithms ("Classic Fairshare
 * Algorithm", "Depth-Oblivious Fair-share Factor") so that the columns of sshare stay what a site
 * is used to. Usage is in TRES-seconds, everything else has no unit.
 */
#ifndef CCR_CORE_FAIRSHARE_H
#define CCR_CORE_FAIRSHARE_H

#include <stdint.h>

/* An association's part of all usage, 0 to 1. 0 where there is no usage at all. */
long double ccr_usage_norm(long double usage_raw, long double root_usage_raw);

/*
 * Classic: own usage, moved towards the parent's effective usage by own shares over the shares of
 * all siblings. Without any sibling shares the parent's effective usage.
 */
long double ccr_usage_efctv(long double usage_norm, long double parent_efctv, uint32_t shares_raw,
			    uint32_t level_shares);

/*
 * Depth-oblivious (PriorityFlags=DEPTH_OBLIVIOUS): chosen so that 2^-(effective/shares) is 2^-R
 * with R = R_parent x r^k, r the own over- or under-use within the account. siblings_norm is the
 * sum of the normalised usage of all siblings, itself included, but those with Fairshare=parent.
 * Where any of the four is 0 the own usage is the effective one.
 */
long double ccr_usage_efctv_oblivious(long double usage_norm, double shares_norm,
				      long double parent_efctv, double parent_shares_norm,
				      long double siblings_norm);

/*
 * 2^-(effective usage / shares / dampening), 0 where there are no shares. dampening is slurm.conf's
 * FairShareDampeningFactor, at least 1.
 */
double ccr_fs_factor(long double usage_efctv, long double shares_norm, uint16_t dampening);

#endif
