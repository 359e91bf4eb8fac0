/* See fits.h. */
#include "slurm/fits.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/common/job_resources.h"

#if CCR_SLURM_RECORDS_COMMON
#pragma weak job_record_create
#pragma weak part_record_create
#pragma weak part_record_delete
#endif

enum kind { SEEN_START = 1, SEEN_JOB = 2, SEEN_NODE = 4, SEEN_PART = 8 };

/* Where a check writes why it failed. */
struct why {
	char text[200];
};

static bool no(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool no(struct why *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->text, sizeof(w->text), fmt, ap);
	va_end(ap);
	return false;
}

/* --- the running version ---------------------------------------------------------------------- */

struct objects {
	char name[48][PATH_MAX];
	int n;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *o = arg;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	/* Plugins are named kind_type.so; libraries begin with lib. */
	if (slash && strncmp(slash + 1, "lib", 3) && strchr(slash, '_') && o->n < 48)
		snprintf(o->name[o->n++], PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

/* plugin_version of an object that is loaded already; 0 if it has none. */
static uint32_t version_of(const char *name)
{
	void *h = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *version;
	const char *type;
	uint32_t v = 0;

	if (!h)
		return 0;
	version = dlsym(h, "plugin_version");
	type = dlsym(h, "plugin_type");
	if (version && type)
		v = *version;
	dlclose(h);
	return v;
}

const char *ccr_slurm_running(char buf[32])
{
	struct objects *o = calloc(1, sizeof(*o));
	Dl_info self = {0};
	uint32_t v = 0;

	snprintf(buf, 32, "unknown");
	if (!o)
		return buf;
	(void)dladdr((void *)ccr_slurm_running, &self);
	/* Names first: dlopen must not be called while the list of objects is held. */
	(void)dl_iterate_phdr(note_object, o);
	for (int i = 0; i < o->n && !v; i++)
		if (!self.dli_fname || strcmp(o->name[i], self.dli_fname))
			v = version_of(o->name[i]);
	if (v)
		snprintf(buf, 32, "%u.%02u.%u", SLURM_VERSION_MAJOR(v), SLURM_VERSION_MINOR(v),
			 SLURM_VERSION_MICRO(v));
	free(o);
	return buf;
}

/* --- looking at memory ------------------------------------------------------------------------ */

/* Can len bytes be read? The kernel looks for us: write() to a pipe fails, a load would crash. */
static bool readable(const void *at, size_t len)
{
	int fd[2];
	bool ok = true;
	char drain[512];

	if (!at || (uintptr_t)at < 4096)
		return false;
	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
		return true; /* out of descriptors: nothing to be learnt */
	for (size_t done = 0; ok && done < len;) {
		size_t step = len - done < sizeof(drain) ? len - done : sizeof(drain);
		ssize_t n = write(fd[1], (const char *)at + done, step);

		ok = n > 0 && read(fd[0], drain, sizeof(drain)) == n;
		if (ok)
			done += (size_t)n;
	}
	close(fd[0]);
	close(fd[1]);
	return ok;
}

/* Is p what slurmctld's allocator gave out for exactly one record of `size` bytes? */
static bool allocated(struct why *w, const char *what, const void *p, size_t size)
{
	const size_t *head = (const size_t *)p - 2; /* its marker and the size */

	if ((uintptr_t)p % sizeof(void *) || !readable(head, 2 * sizeof(*head)))
		return no(w, "%s points nowhere", what);
	if (head[1] != size || xsize((void *)p) != size)
		return no(w, "%s has %zu bytes, expected %zu", what, head[1], size);
	if (!readable(p, size))
		return no(w, "%s cannot be read", what);
	return true;
}

static bool magic_is(struct why *w, const char *what, uint32_t magic, uint32_t expected)
{
	if (magic == expected)
		return true;
	return no(w, "%s has magic %#x, expected %#x", what, magic, expected);
}

/* A printable name of 1 to 255 characters? */
static bool is_name(const char *s)
{
	for (int i = 0; i < 256; i++) {
		if (!readable(s + i, 1))
			return false;
		if (!s[i])
			return i > 0;
		if (!isprint((unsigned char)s[i]))
			return false;
	}
	return false;
}

/* The size that the linker recorded for an exported variable. */
static bool exported(struct why *w, const char *what, const void *at, size_t size)
{
	Dl_info info;
	const ElfW(Sym) *sym = NULL;

	if (!at || !dladdr1(at, &info, (void **)&sym, RTLD_DL_SYMENT) || !sym ||
	    info.dli_saddr != at || !sym->st_size || sym->st_size == size)
		return true;
	return no(w, "%s has %zu bytes, expected %zu", what, (size_t)sym->st_size, size);
}

/* --- records ---------------------------------------------------------------------------------- */

/* *sure: slurmctld finds this very record by the name that we read in it. */
static bool part_fits(struct why *w, const part_record_t *part, bool *sure)
{
	*sure = false;
	if (!allocated(w, "a partition", part, sizeof(*part)) ||
	    !magic_is(w, "a partition", part->magic, PART_MAGIC))
		return false;
	if (!is_name(part->name))
		return no(w, "a partition's name is none");
	/* Another record of that name, or none, is no fault: a reconfigure makes new ones. */
	*sure = part_list && find_part_record(part->name) == part;
	return true;
}

static bool node_fits(struct why *w, const node_record_t *node)
{
	const config_record_t *conf;

	if (!allocated(w, "a node", node, sizeof(*node)) ||
	    !magic_is(w, "a node", node->magic, NODE_MAGIC))
		return false;
	if (!is_name(node->name))
		return no(w, "a node's name is none");
	if (node_record_table_ptr && (node->index >= (uint32_t)node_record_count ||
				      node_record_table_ptr[node->index] != node))
		return no(w, "node %s is not in its place in the node table", node->name);
	conf = node->config_ptr;
	return allocated(w, "a node's configuration", conf, sizeof(*conf)) &&
	       magic_is(w, "a node's configuration", conf->magic, CONFIG_MAGIC);
}

static bool details_fit(struct why *w, const job_record_t *job)
{
	const ccr_slurm_details_t *d = job->details;

	if (!d)
		return IS_JOB_FINISHED(job) || no(w, "job %u has no details", job->job_id);
	if (!allocated(w, "a job's details", d, sizeof(*d)) ||
	    !magic_is(w, "a job's details", d->magic, DETAILS_MAGIC))
		return false;
	if (d->submit_time < 0 || d->submit_time > time(NULL) + 86400)
		return no(w, "job %u was submitted at %lld", job->job_id,
			  (long long)d->submit_time);
	return true;
}

/* *sure: false for the nameless jobs with which slurmctld tries reservations. */
static bool job_fits(struct why *w, const job_record_t *job, bool *sure)
{
	bool part_sure;

	*sure = false;
	if (!allocated(w, "a job", job, sizeof(*job)))
		return false;
	if (!job->job_id && job->magic != JOB_MAGIC)
		return true;
	if (!magic_is(w, "a job", job->magic, JOB_MAGIC))
		return false;
	if (job->job_id >= NO_VAL)
		return no(w, "a job has id %u", job->job_id);
	if ((job->job_state & JOB_STATE_BASE) >= JOB_END)
		return no(w, "job %u has state %#x", job->job_id, (unsigned)job->job_state);
	if (!details_fit(w, job) || (job->part_ptr && !part_fits(w, job->part_ptr, &part_sure)))
		return false;
	if ((job->partition && !is_name(job->partition)) ||
	    (job->account && !is_name(job->account)))
		return no(w, "job %u names no partition or account", job->job_id);
	if (job->job_resrcs &&
	    !allocated(w, "a job's allocation", job->job_resrcs, sizeof(*job->job_resrcs)))
		return false;
	if (job->prio_factors && !allocated(w, "a job's priority factors", job->prio_factors,
					    sizeof(*job->prio_factors)))
		return false;
	*sure = job->job_id && job->details;
	return true;
}

/* --- at the start ----------------------------------------------------------------------------- */

/* What slurmctld's own functions for making records put into them. */
static bool made_fit(struct why *w)
{
#if CCR_SLURM_RECORDS_COMMON
	part_record_t *part = part_record_create ? part_record_create() : NULL;
	job_record_t *job = NULL;
	bool ok = !part || (allocated(w, "a partition", part, sizeof(*part)) &&
			    magic_is(w, "a partition", part->magic, PART_MAGIC));
	bool sure;

	if (ok && part)
		part_record_delete(part);
	if (ok && job_record_create)
		job = job_record_create();
	if (!ok || !job)
		return ok;
	ok = job_fits(w, job, &sure);
	if (ok && (job->array_task_id != NO_VAL || job->site_factor != NICE_OFFSET ||
		   job->billable_tres != (double)NO_VAL || !job->details || !job->prio_factors))
		ok = no(w, "a new job's fields are not where they should be");
	if (!ok)
		return false; /* its parts cannot be told apart: they stay until the end */
	/* Not job_record_delete(): it needs plugins that are not loaded yet. */
	FREE_NULL_LIST(job->step_list);
	xfree(job->prio_factors);
	xfree(job->details);
	xfree(job);
#else
	(void)w;
#endif
	return true;
}

static bool assoc_fits(struct why *w)
{
	assoc_mgr_lock_t locks = {.assoc = READ_LOCK, .qos = READ_LOCK};
	const slurmdb_assoc_rec_t *assoc;
	const slurmdb_qos_rec_t *qos;
	bool ok = true;

	if (!assoc_mgr_assoc_list && !assoc_mgr_qos_list)
		return true;
	assoc_mgr_lock(&locks);
	assoc = assoc_mgr_assoc_list ? list_peek(assoc_mgr_assoc_list) : NULL;
	qos = assoc_mgr_qos_list ? list_peek(assoc_mgr_qos_list) : NULL;
	if (assoc)
		ok = allocated(w, "an association", assoc, sizeof(*assoc)) &&
		     (!assoc->usage ||
		      allocated(w, "an association's usage", assoc->usage, sizeof(*assoc->usage)));
	if (ok && qos)
		ok =
		    allocated(w, "a QOS", qos, sizeof(*qos)) &&
		    (!qos->usage || allocated(w, "a QOS's usage", qos->usage, sizeof(*qos->usage)));
	assoc_mgr_unlock(&locks);
	return ok;
}

/*
 * Says it, once. Slurm opens a plugin whose init failed a second time: the object must stay loaded
 * for it to remember that it has spoken.
 */
static bool unfit(struct ccr_slurm_fits *f, const struct why *w)
{
	char running[32];
	Dl_info self;

	if (atomic_exchange(&f->unfit, true))
		return false;
	error("%s: built from the headers of Slurm %s, but the records of this slurmctld (%s) are "
	      "not like these: %s. %s",
	      f->who, ccr_slurm_built_for(), ccr_slurm_running(running), w->text, f->then);
	if (dladdr(f, &self) && self.dli_fname)
		(void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return false;
}

static bool has(const struct ccr_slurm_fits *f, enum kind kind)
{
	return atomic_load(&f->seen) & kind;
}

static bool saw(struct ccr_slurm_fits *f, enum kind kind)
{
	atomic_fetch_or(&f->seen, kind);
	return true;
}

bool ccr_slurm_fits_start(struct ccr_slurm_fits *f)
{
	struct why w = {""};
	part_record_t *part;
	job_record_t *job;

	if (!ccr_slurm_fits(f))
		return false;
	if (has(f, SEEN_START))
		return true;
	if (!exported(&w, "slurm_conf", &slurm_conf, sizeof(slurm_conf)) ||
	    !exported(&w, "slurmctld_config", &slurmctld_config, sizeof(slurmctld_config)) ||
	    !exported(&w, "slurmctld_diag_stats", &slurmctld_diag_stats,
		      sizeof(slurmctld_diag_stats)) ||
	    !made_fit(&w) || !assoc_fits(&w))
		return unfit(f, &w);
	part = part_list ? list_peek(part_list) : NULL;
	if (part && !ccr_slurm_fits_part(f, part))
		return false;
	if (node_record_table_ptr && node_record_count > 0 && node_record_table_ptr[0] &&
	    !ccr_slurm_fits_node(f, node_record_table_ptr[0]))
		return false;
	job = job_list ? list_peek(job_list) : NULL;
	if (job && !ccr_slurm_fits_job(f, job))
		return false;
	return saw(f, SEEN_START);
}

bool ccr_slurm_fits_job(struct ccr_slurm_fits *f, const job_record_t *job)
{
	struct why w = {""};
	bool sure;

	if (!ccr_slurm_fits(f))
		return false;
	if (has(f, SEEN_JOB))
		return true;
	if (!job_fits(&w, job, &sure))
		return unfit(f, &w);
	return sure ? saw(f, SEEN_JOB) : true;
}

bool ccr_slurm_fits_node(struct ccr_slurm_fits *f, const node_record_t *node)
{
	struct why w = {""};

	if (!ccr_slurm_fits(f))
		return false;
	if (has(f, SEEN_NODE))
		return true;
	return node_fits(&w, node) ? saw(f, SEEN_NODE) : unfit(f, &w);
}

bool ccr_slurm_fits_part(struct ccr_slurm_fits *f, const part_record_t *part)
{
	struct why w = {""};
	bool sure;

	if (!ccr_slurm_fits(f))
		return false;
	if (has(f, SEEN_PART))
		return true;
	if (!part_fits(&w, part, &sure))
		return unfit(f, &w);
	return sure ? saw(f, SEEN_PART) : true;
}
