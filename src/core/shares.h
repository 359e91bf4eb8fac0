/*
 * shares - percentages and factors: the arithmetic between a ledger and a score
 *
 * All are pure functions that give a finite number for any input; what is no number counts as 0.
 */
#ifndef CCR_CORE_SHARES_H
#define CCR_CORE_SHARES_H

/* part / whole, within 0..1; 0 where the whole is 0 or less (nothing was used, no shares were
 * given). */
double ccr_fraction(double part, double whole);

/* The same in percent, 0..100. */
double ccr_percent(double part, double whole);

/*
 * PBS Professional's fairshare_factor: 2^-(usage/share), with the usage as a fraction of all usage
 * and the share as a fraction of all shares (Altair, PBS Professional Administrator's Guide,
 * "Fairshare"; as Aqua's page has it). 1 for no usage, 0.5 where usage equals share, towards 0
 * above it. An entity without a share has the factor 0, used or not: PBS would not run its jobs at
 * all.
 */
double ccr_pbs_fairshare_factor(double usage, double share);

#endif
