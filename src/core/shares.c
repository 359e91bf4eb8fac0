/* shares - see shares.h */
#include "core/shares.h"

#include <math.h>

double ccr_fraction(double part, double whole)
{
	/* Written so that NaN fails: a sum of many may also round to a little over its whole. */
	if (!(part > 0) || !(whole > 0) || isinf(whole))
		return 0;
	return part < whole ? part / whole : 1;
}

double ccr_percent(double part, double whole)
{
	return 100 * ccr_fraction(part, whole);
}

double ccr_pbs_fairshare_factor(double usage, double share)
{
	if (!(share > 0))
		return 0;
	if (!(usage > 0))
		return 1;
	return exp2(-(usage / share));
}
