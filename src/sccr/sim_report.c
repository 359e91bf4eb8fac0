/* sim_report - see sim_report.h */
#include "sccr/sim_report.h"

#include <math.h>

#include "sccr/safe.h"
#include "sccr/sim_text.h"

/* How the text shows a figure. */
enum kind { COUNT, SECONDS, RATIO, PERCENT, HOURS };

static const struct {
	const char *key, *words;
	enum kind kind;
	bool gpus; /* only where the machine has GPUs */
} rows[] = {
    {"jobs", "jobs started", COUNT, false},
    {"fillers", "fillers among them", COUNT, false},
    {"wait_mean", "wait, mean", SECONDS, false},
    {"wait_median", "wait, median", SECONDS, false},
    {"wait_p95", "wait, 95 %", SECONDS, false},
    {"wait_max", "wait, longest", SECONDS, false},
    {"slowdown_mean", "bounded slowdown, mean", RATIO, false},
    {"slowdown_median", "bounded slowdown, median", RATIO, false},
    {"slowdown_p95", "bounded slowdown, 95 %", RATIO, false},
    {"makespan", "first submission to last end", SECONDS, false},
    {"cpu_utilisation", "CPUs in use", PERCENT, false},
    {"gpu_utilisation", "GPUs in use", PERCENT, true},
    {"gpu_idle_while_waiting", "GPUs idle while a GPU job waits", PERCENT, true},
    {"gpu_idle_while_waiting_hours", "the same in GPU hours", HOURS, true},
    {"gpu_fragmentation", "idle GPUs on partly used nodes", PERCENT, true},
    {"gpu_stranded", "idle GPUs without a CPU or memory", PERCENT, true},
    {"queue_mean", "queue length, mean", RATIO, false},
    {"queue_max", "queue length, longest", COUNT, false},
    {"estimates", "jobs that had a booking", COUNT, false},
    {"estimate_error_mean", "start estimate, mean error", SECONDS, false},
    {"estimate_error_p95", "start estimate, 95 % of errors", SECONDS, false},
    {"estimate_bias", "start minus estimate, mean", SECONDS, false},
    {"estimates_late", "started after the first estimate", COUNT, false},
    {"estimate_late_max", "the latest by", SECONDS, false},
    {"cycles", "scheduling cycles", COUNT, false},
};

static double rounded(double v, double to)
{
	return isfinite(v) ? round(v * to) / to : 0;
}

/* Numbers are written with three decimals, so that text and page can show the very same. */
static void add_num(json_object *o, const char *key, double v)
{
	char text[64];

	v = rounded(v, 1000);
	snprintf(text, sizeof(text), v == floor(v) && fabs(v) < 1e15 ? "%.0f" : "%.3f",
		 v == 0 ? 0 : v);
	json_object_object_add(o, key, json_object_new_double_s(v, text));
}

/* The same of a figure that need not exist: null where it does not. */
static void add_num_if(json_object *o, bool exists, const char *key, double v)
{
	if (exists)
		add_num(o, key, v);
	else
		json_object_object_add(o, key, NULL);
}

/* Of the start estimates: null where nobody had one. */
static void add_estimate(json_object *o, const struct sim_figures *f, const char *key, double v)
{
	add_num_if(o, f->estimate.n > 0, key, v);
}

static void add_int(json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_int64((int64_t)v));
}

static void add_class(json_object *o, struct sim_class *c)
{
	bool any = c->jobs > 0; /* interrupted early on, nobody has started yet */

	add_int(o, "jobs", c->jobs);
	add_int(o, "fillers", c->fillers);
	add_num_if(o, any, "wait_mean", sim_quantile_mean(&c->wait) / 1000);
	add_num_if(o, any, "wait_median", (double)sim_quantile_get(&c->wait, 0.5) / 1000);
	add_num_if(o, any, "wait_p95", (double)sim_quantile_get(&c->wait, 0.95) / 1000);
	add_num_if(o, any, "wait_max", (double)c->wait.max / 1000);
	add_num_if(o, any, "slowdown_mean", (double)(c->slowdown_sum / (long double)c->jobs));
	add_num_if(o, any, "slowdown_median", (double)sim_quantile_get(&c->slowdown, 0.5) / 1000);
	add_num_if(o, any, "slowdown_p95", (double)sim_quantile_get(&c->slowdown, 0.95) / 1000);
	add_num(o, "cpu_hours", c->cpu_ms / 3.6e6);
	add_num(o, "gpu_hours", c->gpu_ms / 3.6e6);
}

static json_object *class_row(const char *name, struct sim_class *c, const struct sim_figures *f)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "name", sccr_json_new(name));
	add_class(o, c);
	add_num(o, "cpu_share", f->all.cpu_ms > 0 ? 100 * c->cpu_ms / f->all.cpu_ms : 0);
	add_num(o, "gpu_share", f->all.gpu_ms > 0 ? 100 * c->gpu_ms / f->all.gpu_ms : 0);
	return o;
}

static double part(double a, double b)
{
	return b > 0 ? 100 * a / b : 0;
}

static void add_machine(json_object *o, const struct sim_figures *f)
{
	double span = (double)(f->last - f->first_submit);
	bool any = f->submitted > 0, passed = span > 0; /* of no time there is no share */

	add_num_if(o, any, "makespan", span / 1000);
	add_num_if(o, passed, "cpu_utilisation", part(f->cpu_used, span * (double)f->cpus));
	add_num_if(o, passed, "gpu_utilisation", part(f->gpu_used, span * (double)f->gpus));
	add_num(o, "gpu_idle_while_waiting", part(f->gpu_idle_waiting, f->gpu_waiting));
	add_num(o, "gpu_idle_while_waiting_hours", f->gpu_idle_waiting / 3.6e6);
	/* where jobs run on no particular node, there is none to be partly used or out of CPUs */
	add_num_if(o, !f->nowhere, "gpu_fragmentation", part(f->gpu_broken, f->gpu_idle));
	add_num_if(o, !f->nowhere, "gpu_stranded", part(f->gpu_stranded, f->gpu_idle));
	add_num_if(o, passed, "queue_mean", f->queue_length / span);
	add_int(o, "queue_max", f->queue_max);
}

json_object *sim_report_json(struct sim_figures *f, const struct sim_workload *w,
			     const char *scheduler)
{
	json_object *o = json_object_new_object(), *list;

	json_object_object_add(o, "scheduler", json_object_new_string(scheduler));
	json_object_object_add(o, "complete", json_object_new_boolean(!f->interrupted));
	add_int(o, "submitted", f->submitted);
	add_class(o, &f->all);
	add_machine(o, f);
	add_int(o, "cycles", f->cycles);
	add_int(o, "live_max", f->live_max);
	add_int(o, "estimates", f->estimate.n);
	add_estimate(o, f, "estimate_error_mean", sim_quantile_mean(&f->estimate) / 1000);
	add_estimate(o, f, "estimate_error_median",
		     (double)sim_quantile_get(&f->estimate, 0.5) / 1000);
	add_estimate(o, f, "estimate_error_p95",
		     (double)sim_quantile_get(&f->estimate, 0.95) / 1000);
	add_estimate(o, f, "estimate_bias",
		     (double)(f->estimate_signed / (long double)f->estimate.n) / 1000);
	add_int(o, "estimates_late", f->estimate_late);
	add_estimate(o, f, "estimate_late_max", (double)f->longest_late / 1000);
	list = json_object_new_array();
	for (uint32_t i = 0; i <= f->groups; i++)
		if (f->group[i].jobs)
			json_object_array_add(
			    list,
			    class_row(i < f->groups ? sim_names_get(w->accounts, i) : "(none)",
				      &f->group[i], f));
	json_object_object_add(o, "groups", list);
	list = json_object_new_array();
	for (int i = 0; i < SIM_CPU_CLASSES; i++)
		if (f->cpu_size[i].jobs) {
			char name[64];

			snprintf(name, sizeof(name), "%s %s", sim_figures_cpu_class(i),
				 i ? "CPUs" : "CPU");
			json_object_array_add(list, class_row(name, &f->cpu_size[i], f));
		}
	for (int i = 1; i < SIM_GPU_CLASSES; i++)
		if (f->gpu_size[i].jobs) {
			char name[64];

			snprintf(name, sizeof(name), "%s %s", sim_figures_gpu_class(i),
				 i > 1 ? "GPUs" : "GPU");
			json_object_array_add(list, class_row(name, &f->gpu_size[i], f));
		}
	json_object_object_add(o, "sizes", list);
	return o;
}

static double num(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_double(v) : 0;
}

static bool is_null(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) && !v;
}

static const char *str(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static void show(char *out, size_t size, enum kind kind, double v)
{
	switch (kind) {
	case COUNT:
		snprintf(out, size, "%.0f", v);
		break;
	case SECONDS:
		sim_text_span((sim_time)llround(v * 1000), out, (unsigned)size);
		break;
	case RATIO:
		snprintf(out, size, "%.2f", v);
		break;
	case PERCENT:
		snprintf(out, size, "%.1f %%", v);
		break;
	case HOURS:
		snprintf(out, size, "%.1f h", v);
		break;
	}
}

/* A table of a run's groups or sizes. */
static void classes(FILE *out, json_object *run, const char *key, const char *title)
{
	json_object *list;
	bool gpus = num(run, "gpu_hours") > 0;

	if (!json_object_object_get_ex(run, key, &list) || !json_object_array_length(list))
		return;
	fprintf(out, "\n%s: %s\n%-16s %9s %14s %14s %14s %10s %10s", str(run, "scheduler"), title,
		"", "jobs", "wait, mean", "median", "95 %", "slowdown", "CPU share");
	fprintf(out, gpus ? " %10s\n" : "\n", "GPU share");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *o = json_object_array_get_idx(list, i);
		char text[3][32];

		show(text[0], 32, SECONDS, num(o, "wait_mean"));
		show(text[1], 32, SECONDS, num(o, "wait_median"));
		show(text[2], 32, SECONDS, num(o, "wait_p95"));
		fprintf(out, "%-16s %9.0f %14s %14s %14s %10.2f %8.1f %%", str(o, "name"),
			num(o, "jobs"), text[0], text[1], text[2], num(o, "slowdown_mean"),
			num(o, "cpu_share"));
		if (gpus)
			fprintf(out, " %8.1f %%", num(o, "gpu_share"));
		fputc('\n', out);
	}
}

void sim_report_text(FILE *out, json_object *runs)
{
	size_t n = json_object_array_length(runs);
	bool gpus = false;

	for (size_t i = 0; i < n; i++)
		gpus |= num(json_object_array_get_idx(runs, i), "gpu_hours") > 0;
	fprintf(out, "%-34s", "");
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %14s", str(json_object_array_get_idx(runs, i), "scheduler"));
	fputc('\n', out);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		if (rows[r].gpus && !gpus)
			continue;
		fprintf(out, "%-34s", rows[r].words);
		for (size_t i = 0; i < n; i++) {
			json_object *run = json_object_array_get_idx(runs, i);
			char text[32] = "-";

			if (!is_null(run, rows[r].key))
				show(text, sizeof(text), rows[r].kind, num(run, rows[r].key));
			fprintf(out, " %14s", text);
		}
		fputc('\n', out);
	}
	for (size_t i = 0; i < n; i++) {
		json_object *run = json_object_array_get_idx(runs, i);
		json_object *list;

		if (json_object_object_get_ex(run, "groups", &list) &&
		    json_object_array_length(list) <= 40)
			classes(out, run, "groups", "by group");
		classes(out, run, "sizes", "by size");
	}
}

static void csv_object(FILE *out, const char *scheduler, const char *kind, const char *name,
		       json_object *o)
{
	json_object_object_foreach(o, key, v)
	{
		enum json_type t = json_object_get_type(v);

		if (t != json_type_double && t != json_type_int)
			continue;
		fprintf(out, "%s,%s,", scheduler, kind);
		sccr_put_csv(out, name);
		fprintf(out, ",%s,%s\n", key, json_object_get_string(v));
	}
}

void sim_report_csv(FILE *out, json_object *runs)
{
	static const char *const lists[] = {"groups", "sizes"};

	fputs("scheduler,kind,name,figure,value\n", out);
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		json_object *run = json_object_array_get_idx(runs, i), *list;

		csv_object(out, str(run, "scheduler"), "all", "", run);
		for (int k = 0; k < 2; k++)
			if (json_object_object_get_ex(run, lists[k], &list))
				for (size_t m = 0; m < json_object_array_length(list); m++) {
					json_object *o = json_object_array_get_idx(list, m);

					csv_object(out, str(run, "scheduler"), k ? "size" : "group",
						   str(o, "name"), o);
				}
	}
}
