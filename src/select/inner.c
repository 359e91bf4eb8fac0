/*
 * inner - see inner.h; also every entry point that is only handed on
 */
#include "select/inner.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_NAME "select_cons_tres.so"

static void *handle;
static char *path;

/*
 * One line for each symbol of any supported version: result, name, parameters, arguments, what to
 * answer where the stock plugin has no such symbol. Ours are defined from the same list below;
 * those marked OWN are defined in plugin.c, which does more than hand on.
 */
#define PASSED(F)                                                                                  \
	F(int, state_save, (char *dir), (dir), SLURM_SUCCESS)                                      \
	F(int, state_restore, (char *dir), (dir), SLURM_SUCCESS)                                   \
	F(int, job_init, (ccr_slurm_list_t * jobs), (jobs), SLURM_SUCCESS)                         \
	F(int, job_ready, (job_record_t * job), (job), 1)                                          \
	F(int, job_signal, (job_record_t * job, int signal), (job, signal), SLURM_SUCCESS)         \
	F(bitstr_t *, step_pick_nodes,                                                             \
	  (job_record_t * job, void *jobinfo, uint32_t count, bitstr_t **avail),                   \
	  (job, jobinfo, count, avail), NULL)                                                      \
	F(int, step_start, (step_record_t * step), (step), SLURM_SUCCESS)                          \
	F(int, step_finish, (step_record_t * step, bool killing), (step, killing), SLURM_SUCCESS)  \
	F(int, select_nodeinfo_pack, (void *info, buf_t *buffer, uint16_t version),                \
	  (info, buffer, version), SLURM_ERROR)                                                    \
	F(int, select_nodeinfo_unpack, (void **info, buf_t *buffer, uint16_t version),             \
	  (info, buffer, version), SLURM_ERROR)                                                    \
	F(void *, select_nodeinfo_alloc, (void), (), NULL)                                         \
	F(int, select_nodeinfo_free, (void *info), (info), SLURM_SUCCESS)                          \
	F(int, select_nodeinfo_set_all, (void), (), SLURM_SUCCESS)                                 \
	F(int, select_nodeinfo_set, (job_record_t * job), (job), SLURM_SUCCESS)                    \
	F(int, select_nodeinfo_get, (void *info, int what, int state, void *data),                 \
	  (info, what, state, data), SLURM_ERROR)                                                  \
	F(void *, select_jobinfo_alloc, (void), (), NULL)                                          \
	F(int, select_jobinfo_free, (void *info), (info), SLURM_SUCCESS)                           \
	F(int, select_jobinfo_set, (void *info, int what, void *data), (info, what, data),         \
	  SLURM_SUCCESS)                                                                           \
	F(int, select_jobinfo_get, (void *info, int what, void *data), (info, what, data),         \
	  SLURM_ERROR)                                                                             \
	F(void *, select_jobinfo_copy, (void *info), (info), NULL)                                 \
	F(int, select_jobinfo_pack, (void *info, buf_t *buffer, uint16_t version),                 \
	  (info, buffer, version), SLURM_SUCCESS)                                                  \
	F(int, select_jobinfo_unpack, (void **info, buf_t *buffer, uint16_t version),              \
	  (info, buffer, version), SLURM_SUCCESS)                                                  \
	F(char *, select_jobinfo_sprint, (void *info, char *buf, size_t size, int mode),           \
	  (info, buf, size, mode), NULL)                                                           \
	F(char *, select_jobinfo_xstrdup, (void *info, int mode), (info, mode), NULL)              \
	F(int, get_info_from_plugin, (int what, job_record_t *job, void *data), (what, job, data), \
	  SLURM_ERROR)                                                                             \
	F(int, update_node_config, (int index), (index), SLURM_SUCCESS)                            \
	F(void *, resv_test, (void *resv, uint32_t count, bitstr_t *avail, bitstr_t **cores),      \
	  (resv, count, avail, cores), NULL)

#define OWN(F)                                                                                     \
	F(int, node_init, (void), (), SLURM_ERROR)                                                 \
	F(int, reconfigure, (void), (), SLURM_ERROR)                                               \
	F(int, job_begin, (job_record_t * job), (job), SLURM_ERROR)                                \
	F(int, job_fini, (job_record_t * job), (job), SLURM_ERROR)                                 \
	F(int, job_expand, (job_record_t * from, job_record_t * to), (from, to), SLURM_ERROR)      \
	F(int, job_resized, (job_record_t * job, node_record_t * node), (job, node), SLURM_ERROR)  \
	F(int, job_suspend, (job_record_t * job, bool indefinitely), (job, indefinitely),          \
	  SLURM_ERROR)                                                                             \
	F(int, job_resume, (job_record_t * job, bool indefinitely), (job, indefinitely),           \
	  SLURM_ERROR)

#define POINTER(type, name, params, args, none) static type(*inner_##name) params;
PASSED(POINTER)
OWN(POINTER)
static int (*inner_job_test)(CCR_SLURM_TEST_PARAMS);
static void (*inner_job_mem_reduce)(job_record_t *job);

/* Ours, for slurmctld: the same of the stock plugin. */
#define HAND_ON(type, name, params, args, none)                                                    \
	CCR_SLURM_EXPORT type select_p_##name params;                                              \
	type select_p_##name params                                                                \
	{                                                                                          \
		return inner_##name ? inner_##name args : none;                                    \
	}
PASSED(HAND_ON)

CCR_SLURM_EXPORT void select_p_job_mem_reduce(job_record_t *job);
void select_p_job_mem_reduce(job_record_t *job)
{
	if (inner_job_mem_reduce)
		inner_job_mem_reduce(job);
}

#define CALL(type, name, params, args, none)                                                       \
	type ccr_inner_##name params                                                               \
	{                                                                                          \
		return inner_##name ? inner_##name args : none;                                    \
	}
OWN(CALL)

int ccr_inner_test(const struct ccr_slurm_test *t)
{
	if (!inner_job_test)
		return SLURM_ERROR;
	return inner_job_test(t->job, t->nodes, t->min_nodes, t->max_nodes, t->req_nodes, t->mode,
			      t->candidates, t->preempted, t->exclude
#if CCR_SLURM_WILL_RUN_DATA
			      ,
			      t->will_run
#endif
	);
}

const char *ccr_inner_path(void)
{
	return path ? path : "(none)";
}

/* Whether it is the file that this code was loaded from. */
static bool is_self(const char *file)
{
	struct stat a, b;
	Dl_info self;

	return dladdr((void *)is_self, &self) && self.dli_fname && !stat(self.dli_fname, &a) &&
	       !stat(file, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whether it is this plugin all the same: a copy, or another version of it. */
static bool is_ours(const char *file)
{
	void *other = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	const char *name = other ? dlsym(other, "plugin_name") : NULL;
	bool ours = name && strstr(name, "slurm-ccr");

	if (other)
		dlclose(other);
	if (ours)
		info("select/cons_tres (slurm-ccr): %s is ours as well, and is passed over", file);
	return ours;
}

/* The stock plugin in that folder, xmalloc'd; NULL if there is none but ourselves. */
static char *in_folder(const char *dir, const char *below)
{
	char *file = NULL;
	struct stat st;

	xstrfmtcat(file, "%s%s/" FILE_NAME, dir, below);
	if (*dir && !stat(file, &st) && S_ISREG(st.st_mode) && !is_self(file) && !is_ours(file))
		return file;
	xfree(file);
	return NULL;
}

/*
 * The stock plugin's path, xmalloc'd; NULL if there is none: in another folder of PluginDir, or
 * where a package diverted it to, as ours stands in its place.
 */
static char *find(void)
{
	char *dirs = xstrdup(slurm_conf.plugindir), *rest = dirs, *dir, *found = NULL;

	while (!found && rest && (dir = strsep(&rest, ":"))) {
		found = in_folder(dir, "");
		if (!found)
			found = in_folder(dir, "/ccr-stock");
	}
	xfree(dirs);
	return found;
}

static bool fits(void)
{
	const uint32_t *version = dlsym(handle, "plugin_version");
	const char *type = dlsym(handle, "plugin_type");

	if (!version || !type || xstrcmp(type, "select/cons_tres")) {
		error("select/cons_tres (slurm-ccr): %s is no select/cons_tres", path);
		return false;
	}
	if (*version != SLURM_VERSION_NUMBER) {
		error("select/cons_tres (slurm-ccr): %s is of Slurm %u.%02u.%u, this is built for "
		      "%s",
		      path, SLURM_VERSION_MAJOR(*version), SLURM_VERSION_MINOR(*version),
		      SLURM_VERSION_MICRO(*version), ccr_slurm_built_for());
		return false;
	}
	return true;
}

/* A function pointer out of an object pointer, as POSIX means it. */
static void *symbol(const char *name)
{
	return dlsym(handle, name);
}

bool ccr_inner_open(void)
{
	int (*inner_init)(void);

	if (handle)
		return true;
	path = find();
	if (!path) {
		error("select/cons_tres (slurm-ccr): no other " FILE_NAME
		      " in PluginDir=%s: Slurm's "
		      "own plugin folder must be in it, behind ours",
		      slurm_conf.plugindir);
		return false;
	}
	/* Kept for good: threads of slurmctld may be inside while plugins are taken down. */
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		error("select/cons_tres (slurm-ccr): %s", dlerror());
		return false;
	}
	if (!fits()) {
		dlclose(handle);
		handle = NULL;
		return false;
	}
#define LOOK_UP(type, name, params, args, none) *(void **)&inner_##name = symbol("select_p_" #name);
	PASSED(LOOK_UP)
	OWN(LOOK_UP)
	*(void **)&inner_job_test = symbol("select_p_job_test");
	*(void **)&inner_job_mem_reduce = symbol("select_p_job_mem_reduce");
	if (!inner_job_test || !inner_job_begin || !inner_job_fini || !inner_node_init) {
		error("select/cons_tres (slurm-ccr): %s lacks entry points", path);
		return false;
	}
	*(void **)&inner_init = symbol("init");
	return !inner_init || inner_init() == SLURM_SUCCESS;
}

void ccr_inner_close(void)
{
	CCR_SLURM_FINI (*inner_fini)(void);

	if (!handle)
		return;
	*(void **)&inner_fini = symbol("fini");
	if (inner_fini)
		(void)inner_fini();
	dlclose(handle);
	handle = NULL;
	xfree(path);
}
