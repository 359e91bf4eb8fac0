/* kept_site - what all rows of kept.h depend on, as one number */
#include <string.h>

#include "priority/kept.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ (h >> 32);
}

static uint64_t mix_double(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return mix(h, bits);
}

/* --- what all rows depend on ------------------------------------------------------------------ */

static uint64_t mix_part(uint64_t h, const struct ccr_tres_rule *tres, const part_record_t *part)
{
	h = mix(h, (uintptr_t)part);
	h = mix(h, part->priority_job_factor);
	h = mix_double(h, part->norm_priority);
	h = mix(h, ((uint64_t)part->max_time << 32) | part->default_time);
	h = mix(h, part->priority_tier);
	for (int k = 0; k < tres->count; k++)
		h = mix(h, part->tres_cnt ? part->tres_cnt[tres->item[k].index] : 0);
	return h;
}

static uint64_t mix_qos(uint64_t h, const slurmdb_qos_rec_t *qos)
{
	h = mix(h, (uintptr_t)qos);
	h = mix(h, ((uint64_t)qos->flags << 32) | qos->priority);
	return mix_double(h, qos->usage ? qos->usage->norm_priority : 0);
}

uint64_t ccr_kept_site(const struct ccr_facts_site *site)
{
	uint64_t h = mix(site->nodes, site->cpus);
	ccr_slurm_list_itr_t *it;
	slurmdb_qos_rec_t *qos;
	part_record_t *part;

	h = mix(h, (uint64_t)slurmctld_tres_cnt);
	h = mix(h, (uint64_t)last_part_update);
	if (part_list) {
		it = list_iterator_create(part_list);
		while ((part = list_next(it)))
			h = mix_part(h, &site->settings->tres, part);
		list_iterator_destroy(it);
	}
	if (assoc_mgr_qos_list) {
		it = list_iterator_create(assoc_mgr_qos_list);
		while ((qos = list_next(it)))
			h = mix_qos(h, qos);
		list_iterator_destroy(it);
	}
	return h;
}
