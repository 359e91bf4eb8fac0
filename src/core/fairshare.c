/* fairshare - see fairshare.h */
#include "core/fairshare.h"

#include <math.h>

long double ccr_usage_norm(long double usage_raw, long double root_usage_raw)
{
	long double norm;

	if (!root_usage_raw)
		return 0;
	norm = usage_raw / root_usage_raw;
	/* Above 1 where a half-life was changed between two cycles. */
	return norm > 1 ? 1 : norm;
}

long double ccr_usage_efctv(long double usage_norm, long double parent_efctv, uint32_t shares_raw,
			    uint32_t level_shares)
{
	if (!level_shares)
		return parent_efctv;
	return usage_norm + (parent_efctv - usage_norm) * (shares_raw / (long double)level_shares);
}

long double ccr_usage_efctv_oblivious(long double usage_norm, double shares_norm,
				      long double parent_efctv, double parent_shares_norm,
				      long double siblings_norm)
{
	/* How strongly a parent far from its share weakens what would bring R back to 1. */
	const long double strength = 5;
	long double parent, own, k = 1;

	if (!shares_norm || !parent_shares_norm || !parent_efctv || !usage_norm)
		return usage_norm;
	parent = parent_efctv / parent_shares_norm;
	own = usage_norm / shares_norm / (siblings_norm / parent_shares_norm);
	if (parent && own) {
		long double lp = logl(parent);

		if (lp * logl(own) < 0)
			k = 1 / (1 + strength * lp * strength * lp);
	}
	return parent * (long double)pow((double)own, (double)k) * shares_norm;
}

double ccr_fs_factor(long double usage_efctv, long double shares_norm, uint16_t dampening)
{
	if (shares_norm <= 0)
		return 0;
	return pow(2.0, (double)-(usage_efctv / shares_norm / (dampening ? dampening : 1)));
}
