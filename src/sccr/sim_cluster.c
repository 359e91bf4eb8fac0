/* sim_cluster - see sim_cluster.h */
#include "sccr/sim_cluster.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sccr/sim_hostlist.h"
#include "sccr/sim_nodeset.h"
#include "sccr/sim_text.h"

#define NODES_MAX 100000

/* What one NodeName line says beside the names. */
struct node_line {
	uint64_t cpus, boards, sockets, cores, threads, mem, weight;
	char gres[512];
	char features[1024];
};

struct loader {
	struct sim_cluster *c;
	struct node_line node_default;
	struct sim_partition part_default;
	char part_nodes_default[4096];
	char **part_nodes; /* the Nodes= of each partition, resolved at the end */
	struct sim_names *names;
	struct sim_nodesets sets;
	uint32_t node_room;
	const char *path;
	unsigned line;
	struct ccr_error *err;
};

static int bad(struct loader *l, const char *what, const char *found)
{
	return ccr_error_set(l->err, CCR_EINVAL, l->line, "%s:%u: %s: \"%.200s\"", l->path, l->line,
			     what, found);
}

static struct sim_node *node_add(struct loader *l, const char *name)
{
	struct sim_cluster *c = l->c;
	struct sim_node *n;

	if (c->nodes == l->node_room) {
		uint32_t room = l->node_room ? 2 * l->node_room : 64;
		struct sim_node *p = realloc(c->node, room * sizeof(*p));

		if (!p)
			return NULL;
		c->node = p;
		l->node_room = room;
	}
	if (sim_names_add(l->names, name) == UINT32_MAX)
		return NULL;
	n = &c->node[c->nodes++];
	memset(n, 0, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", name);
	return n;
}

/* "gpu:h100:4,gpu:2(S:0)" into the node's types; other kinds of Gres are none of ours. */
static int node_gres(struct loader *l, struct sim_node *n, const char *gres)
{
	char copy[512], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", gres);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *paren = strchr(t, '('), *kind, *type, *count, *inner = NULL;
		uint64_t v = 1;
		uint32_t number;

		if (paren)
			*paren = '\0';
		kind = strtok_r(t, ":", &inner);
		if (!kind || strcasecmp(kind, "gpu") != 0)
			continue;
		type = strtok_r(NULL, ":", &inner);
		count = strtok_r(NULL, ":", &inner);
		if (type && !count && sim_text_u64(type, 0, 65535, &v))
			type = NULL;
		else if (count && !sim_text_u64(count, 0, 65535, &v))
			return bad(l, "Gres: a number of GPUs is expected", count);
		if (n->ntypes == SIM_NODE_TYPES)
			return bad(l,
				   "Gres: more kinds of GPU in a node than the simulator holds (4)",
				   gres);
		number = sim_names_add(l->c->gpu_types, type ? type : "gpu");
		if (number == UINT32_MAX)
			return ccr_error_nomem(l->err);
		n->type[n->ntypes] = (int16_t)number;
		n->gpus[n->ntypes++] = (uint16_t)v;
	}
	return CCR_OK;
}

struct add_arg {
	struct loader *l;
	const struct node_line *spec;
};

static int add_one(const char *name, void *arg)
{
	struct add_arg *a = arg;
	struct loader *l = a->l;
	const struct node_line *s = a->spec;
	struct sim_node *n;
	uint64_t cpus = s->cpus ? s->cpus : s->boards * s->sockets * s->cores * s->threads;

	if (strlen(name) >= sizeof(n->name))
		return bad(l, "a node name longer than 63 characters", name);
	if (sim_names_find(l->names, name) != UINT32_MAX)
		return bad(l, "this node is defined twice", name);
	if (l->c->nodes == NODES_MAX)
		return bad(l, "more than 100000 nodes", name);
	n = node_add(l, name);
	if (!n || sim_nodesets_node(&l->sets, s->features))
		return ccr_error_nomem(l->err);
	if (cpus > UINT32_MAX || s->mem > UINT32_MAX)
		return bad(l, "CPUs or RealMemory out of range", name);
	n->cpus = (uint32_t)cpus;
	n->mem = (uint32_t)s->mem;
	n->weight = (uint32_t)s->weight;
	return node_gres(l, n, s->gres);
}

static int node_key(struct loader *l, struct node_line *s, const char *key, const char *value)
{
	const struct {
		const char *key;
		uint64_t *to;
		uint64_t min;
	} numbers[] = {{"CPUs", &s->cpus, 1},
		       {"Procs", &s->cpus, 1},
		       {"Boards", &s->boards, 1},
		       {"Sockets", &s->sockets, 1},
		       {"SocketsPerBoard", &s->sockets, 1},
		       {"CoresPerSocket", &s->cores, 1},
		       {"ThreadsPerCore", &s->threads, 1},
		       {"RealMemory", &s->mem, 0},
		       {"Weight", &s->weight, 0}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcasecmp(key, numbers[i].key)) {
			if (!sim_text_u64(value, numbers[i].min, UINT32_MAX, numbers[i].to))
				return bad(l, "a whole number is expected", value);
			return CCR_OK;
		}
	if (!strcasecmp(key, "Gres"))
		snprintf(s->gres, sizeof(s->gres), "%s", value);
	if ((!strcasecmp(key, "Feature") || !strcasecmp(key, "Features")) &&
	    snprintf(s->features, sizeof(s->features), "%s", value) >= (int)sizeof(s->features))
		return bad(l, "a list of features that is too long", value);
	return CCR_OK;
}

static int part_key(struct loader *l, struct sim_partition *p, char *nodes, size_t size,
		    const char *key, const char *value)
{
	uint64_t v = 0;

	if (!strcasecmp(key, "Nodes")) {
		if (snprintf(nodes, size, "%s", value) >= (int)size)
			return bad(l, "a list of nodes that is too long", value);
	} else if (!strcasecmp(key, "Default")) {
		p->is_default = !strcasecmp(value, "YES");
	} else if (!strcasecmp(key, "DefaultTime")) {
		if (strcasecmp(value, "NONE") != 0 && !sim_text_limit(value, &p->default_limit))
			return bad(l, "a time limit is expected", value);
	} else if (!strcasecmp(key, "MaxTime")) {
		if (!sim_text_limit(value, &p->max_limit))
			return bad(l, "a time limit is expected", value);
	} else if (!strcasecmp(key, "PriorityTier")) {
		if (!sim_text_u64(value, 0, 65533, &v))
			return bad(l, "a number up to 65533 is expected", value);
		p->tier = (uint32_t)v;
	} else if (!strcasecmp(key, "PriorityJobFactor")) {
		if (!sim_text_u64(value, 0, 65533, &v))
			return bad(l, "a number up to 65533 is expected", value);
		p->job_factor = (uint32_t)v;
	} else if (!strcasecmp(key, "TRESBillingWeights")) {
		snprintf(p->billing, sizeof(p->billing), "%s", value);
	}
	return CCR_OK;
}

/* The next Key=Value of a line; quotes keep blanks in a value. False at the line's end. */
static bool next_pair(char **s, char **key, char **value)
{
	char *p = *s, *to;
	bool quoted = false;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p)
		return false;
	*key = p;
	while (*p && *p != '=' && !isspace((unsigned char)*p))
		p++;
	if (*p != '=') {
		if (*p)
			*p++ = '\0';
		*s = p;
		*value = p + strlen(p);
		return true;
	}
	*p++ = '\0';
	*value = to = p;
	for (; *p && (quoted || !isspace((unsigned char)*p)); p++)
		if (*p == '"')
			quoted = !quoted;
		else
			*to++ = *p;
	if (*p)
		p++;
	*to = '\0';
	*s = p;
	return true;
}

static int do_node(struct loader *l, const char *names, char *rest)
{
	struct node_line spec = l->node_default;
	struct add_arg a = {l, &spec};
	bool is_default = !strcasecmp(names, "DEFAULT");
	struct ccr_error e = {0};
	char *key, *value;
	int rc;

	while (next_pair(&rest, &key, &value)) {
		rc = node_key(l, is_default ? &l->node_default : &spec, key, value);
		if (rc)
			return rc;
	}
	if (is_default)
		return CCR_OK;
	rc = sim_hostlist_each(names, add_one, &a, &e);
	if (rc && e.code)
		return bad(l, e.text, names);
	return rc;
}

static int do_part(struct loader *l, const char *name, char *rest)
{
	struct sim_cluster *c = l->c;
	struct sim_partition spec = l->part_default, *parts;
	char nodes[sizeof(l->part_nodes_default)], *key, *value, **lists;
	bool is_default = !strcasecmp(name, "DEFAULT");
	int rc;

	memcpy(nodes, l->part_nodes_default, sizeof(nodes));
	while (next_pair(&rest, &key, &value)) {
		rc = part_key(l, &spec, nodes, sizeof(nodes), key, value);
		if (rc)
			return rc;
	}
	if (is_default) {
		l->part_default = spec;
		memcpy(l->part_nodes_default, nodes, sizeof(nodes));
		return CCR_OK;
	}
	if (strlen(name) >= sizeof(spec.name))
		return bad(l, "a partition name longer than 63 characters", name);
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	parts = realloc(c->part, (c->parts + 1) * sizeof(*parts));
	if (!parts)
		return ccr_error_nomem(l->err);
	c->part = parts;
	lists = realloc(l->part_nodes, (c->parts + 1) * sizeof(*lists));
	if (!lists)
		return ccr_error_nomem(l->err);
	l->part_nodes = lists;
	lists[c->parts] = strdup(nodes);
	if (!lists[c->parts])
		return ccr_error_nomem(l->err);
	parts[c->parts++] = spec;
	return CCR_OK;
}

static int do_nodeset(struct loader *l, const char *name, char *rest)
{
	const char *feature = "", *nodes = "";
	char *key, *value;

	while (next_pair(&rest, &key, &value))
		if (!strcasecmp(key, "Feature"))
			feature = value;
		else if (!strcasecmp(key, "Nodes"))
			nodes = value;
	if (!*feature && !*nodes)
		return bad(l, "a node set without Feature= and Nodes=", name);
	if (sim_nodesets_known(&l->sets, name))
		return bad(l, "this node set is defined twice", name);
	return sim_nodesets_add(&l->sets, name, feature, nodes) ? ccr_error_nomem(l->err) : CCR_OK;
}

static int do_setting(struct loader *l, const char *key, const char *value)
{
	struct sim_cluster *c = l->c;
	struct sim_setting *s = realloc(c->setting, (c->settings + 1) * sizeof(*s));

	if (!s)
		return ccr_error_nomem(l->err);
	c->setting = s;
	s += c->settings++;
	snprintf(s->key, sizeof(s->key), "%s", key);
	snprintf(s->value, sizeof(s->value), "%s", value);
	s->line = l->line;
	return CCR_OK;
}

static int do_line(struct loader *l, char *s)
{
	char *key, *value;

	s[strcspn(s, "#\n")] = '\0';
	if (!next_pair(&s, &key, &value))
		return CCR_OK;
	if (!strcasecmp(key, "NodeName"))
		return do_node(l, value, s);
	if (!strcasecmp(key, "PartitionName"))
		return do_part(l, value, s);
	if (!strcasecmp(key, "NodeSet"))
		return do_nodeset(l, value, s);
	if (!strcasecmp(key, "Include"))
		return bad(l, "included files are not followed: give one file", s);
	do {
		int rc = do_setting(l, key, value);

		if (rc)
			return rc;
	} while (next_pair(&s, &key, &value));
	return CCR_OK;
}

/* Partitions get their nodes once all nodes are known; totals are added up. */
static int finish(struct loader *l)
{
	struct sim_cluster *c = l->c;

	if (!c->nodes)
		return ccr_error_set(l->err, CCR_EINVAL, 0, "%s: no node is defined (NodeName=...)",
				     l->path);
	for (uint32_t i = 0; i < c->parts; i++) {
		struct ccr_error e = {0};
		char what[100];
		int rc;

		if (!l->part_nodes || !l->part_nodes[i][0] || !strcasecmp(l->part_nodes[i], "ALL"))
			continue;
		c->part[i].has_node = calloc(c->nodes, sizeof(bool));
		if (!c->part[i].has_node)
			return ccr_error_nomem(l->err);
		snprintf(what, sizeof(what), "partition %s", c->part[i].name);
		rc = sim_nodesets_mark(&l->sets, l->names, l->part_nodes[i], what,
				       c->part[i].has_node, &e);
		if (rc)
			return ccr_error_set(l->err, rc, 0, "%s: %s", l->path, e.text);
	}
	if (!c->parts) {
		int rc;
		char none[1] = "";

		rc = do_part(l, "all", none);
		if (rc)
			return rc;
		c->part[0].is_default = true;
	}
	for (uint32_t i = 0; i < c->nodes; i++) {
		c->cpus += c->node[i].cpus;
		c->mem += c->node[i].mem;
		c->gpus += sim_gpus(c->node[i].gpus);
	}
	return CCR_OK;
}

static int start(struct loader *l, struct sim_cluster *c, const char *path, struct ccr_error *err)
{
	memset(c, 0, sizeof(*c));
	memset(l, 0, sizeof(*l));
	l->c = c;
	l->path = path;
	l->err = err;
	l->node_default = (struct node_line){
	    .boards = 1, .sockets = 1, .cores = 1, .threads = 1, .mem = 1, .weight = 1};
	l->part_default.default_limit = -1;
	l->part_default.max_limit = SIM_NEVER;
	l->part_default.tier = l->part_default.job_factor = 1;
	l->names = sim_names_new();
	c->gpu_types = sim_names_new();
	return !sim_nodesets_init(&l->sets) && l->names && c->gpu_types ? CCR_OK
									: ccr_error_nomem(err);
}

static void done(struct loader *l)
{
	if (l->part_nodes)
		for (uint32_t i = 0; i < l->c->parts; i++)
			free(l->part_nodes[i]);
	free(l->part_nodes);
	sim_names_free(l->names);
	sim_nodesets_free(&l->sets);
}

/* One line of the file with those that a backslash joins to it; false at the end of the file. */
static bool whole_line(struct loader *l, FILE *f, char **buf, size_t *room, char **more,
		       size_t *more_room)
{
	ssize_t n = getline(buf, room, f), m;

	if (n < 0)
		return false;
	l->line++;
	while (n >= 2 && (*buf)[n - 1] == '\n' && (*buf)[n - 2] == '\\') {
		char *p;

		m = getline(more, more_room, f);
		if (m < 0)
			break;
		l->line++;
		p = realloc(*buf, (size_t)(n + m));
		if (!p)
			break;
		*buf = p;
		*room = (size_t)(n + m);
		memcpy(p + n - 2, *more, (size_t)m + 1);
		n += m - 2;
	}
	return true;
}

static int load(struct sim_cluster *c, const char *path, bool settings_only, struct ccr_error *err)
{
	struct loader l;
	char *buf = NULL, *more = NULL;
	size_t room = 0, more_room = 0;
	int rc = start(&l, c, path, err);
	FILE *f = fopen(path, "re");

	if (!rc && !f)
		rc = ccr_error_set(err, CCR_EIO, 0, "%s: %s", path, strerror(errno));
	while (!rc && whole_line(&l, f, &buf, &room, &more, &more_room))
		rc = do_line(&l, buf);
	if (!rc && ferror(f))
		rc = ccr_error_set(err, CCR_EIO, 0, "%s: %s", path, strerror(errno));
	if (!rc && !(settings_only && !c->nodes))
		rc = finish(&l);
	if (f)
		fclose(f);
	free(buf);
	free(more);
	done(&l);
	return rc;
}

int sim_cluster_load(struct sim_cluster *c, const char *path, struct ccr_error *err)
{
	return load(c, path, false, err);
}

int sim_cluster_settings(struct sim_cluster *c, const char *path, struct ccr_error *err)
{
	return load(c, path, true, err);
}

int sim_cluster_plain(struct sim_cluster *c, uint32_t count, uint32_t cpus, uint32_t gpus,
		      uint32_t mem, struct ccr_error *err)
{
	struct loader l;
	struct node_line spec = {.cpus = cpus, .mem = mem, .weight = 1};
	struct add_arg a = {&l, &spec};
	int rc = start(&l, c, "--nodes", err);

	if (gpus)
		snprintf(spec.gres, sizeof(spec.gres), "gpu:%u", gpus);
	for (uint32_t i = 0; !rc && i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u", i + 1);
		rc = add_one(name, &a);
	}
	if (!rc)
		rc = finish(&l);
	done(&l);
	return rc;
}

uint32_t sim_cluster_part(const struct sim_cluster *c, const char *name)
{
	for (uint32_t i = 0; i < c->parts; i++)
		if (*name ? !strcmp(name, c->part[i].name) : c->part[i].is_default)
			return i;
	return *name ? UINT32_MAX : 0;
}

const char *sim_cluster_setting(const struct sim_cluster *c, const char *key)
{
	for (uint32_t i = c->settings; i-- > 0;)
		if (!strcasecmp(c->setting[i].key, key))
			return c->setting[i].value;
	return NULL;
}

bool sim_node_holds(const struct sim_node *n, const struct sim_demand *d)
{
	uint32_t gpus = 0;

	for (int i = 0; i < n->ntypes; i++)
		if (d->gpu_type == SIM_ANY_TYPE || d->gpu_type == n->type[i])
			gpus += n->gpus[i];
	return n->cpus >= d->cpus && n->mem >= d->mem && gpus >= d->gpus;
}

void sim_cluster_free(struct sim_cluster *c)
{
	for (uint32_t i = 0; i < c->parts; i++)
		free(c->part[i].has_node);
	free(c->part);
	free(c->node);
	free(c->setting);
	sim_names_free(c->gpu_types);
	memset(c, 0, sizeof(*c));
}
