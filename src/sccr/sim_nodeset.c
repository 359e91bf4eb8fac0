/* sim_nodeset - see sim_nodeset.h */
#include "sccr/sim_nodeset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sccr/sim_grow.h"
#include "sccr/sim_hostlist.h"

int sim_nodesets_init(struct sim_nodesets *s)
{
	memset(s, 0, sizeof(*s));
	s->features = sim_names_new();
	return s->features ? 0 : -1;
}

static void set_free(struct sim_nodeset *set)
{
	free(set->name);
	free(set->feature);
	free(set->nodes);
}

void sim_nodesets_free(struct sim_nodesets *s)
{
	for (uint32_t i = 0; i < s->sets; i++)
		set_free(&s->set[i]);
	free(s->set);
	free(s->list);
	sim_names_free(s->features);
	memset(s, 0, sizeof(*s));
}

int sim_nodesets_node(struct sim_nodesets *s, const char *features)
{
	uint32_t list = sim_names_add(s->features, features);

	if (sim_grow(&s->list, &s->room, s->nodes + 1, sizeof(*s->list)))
		return -1;
	s->list[s->nodes++] = list;
	return list == UINT32_MAX ? -1 : 0;
}

int sim_nodesets_add(struct sim_nodesets *s, const char *name, const char *feature,
		     const char *nodes)
{
	struct sim_nodeset *p = realloc(s->set, (s->sets + 1) * sizeof(*p));

	if (!p)
		return -1;
	s->set = p;
	p += s->sets;
	*p = (struct sim_nodeset){strdup(name), strdup(feature), strdup(nodes)};
	if (!p->name || !p->feature || !p->nodes) {
		set_free(p);
		return -1;
	}
	s->sets++;
	return 0;
}

static const struct sim_nodeset *find(const struct sim_nodesets *s, const char *name)
{
	for (uint32_t i = 0; i < s->sets; i++)
		if (!strcmp(s->set[i].name, name))
			return &s->set[i];
	return NULL;
}

bool sim_nodesets_known(const struct sim_nodesets *s, const char *name)
{
	return find(s, name) != NULL;
}

/* Is it one of a list that is parted by commas? */
static bool has_feature(const char *list, const char *feature)
{
	size_t len = strlen(feature);

	for (const char *t = list; len && *t; t += strcspn(t, ",")) {
		t += *t == ',';
		if (strcspn(t, ",") == len && !strncmp(t, feature, len))
			return true;
	}
	return false;
}

struct mark {
	const struct sim_nodesets *s;
	const struct sim_names *names;
	const char *what;
	bool in_set; /* sets have no sets in them */
	bool *has;
	struct ccr_error *err;
};

static int mark_one(const char *name, void *arg);

static int mark_list(struct mark *m, const char *list)
{
	struct ccr_error e = {0};
	int rc = sim_hostlist_each(list, mark_one, m, &e);

	/* else mark_one has said what is wrong */
	return rc && e.code ? ccr_error_set(m->err, rc, 0, "%s: %s", m->what, e.text) : rc;
}

static int mark_set(const struct mark *m, const struct sim_nodeset *set)
{
	struct mark inner = *m;
	char what[100];

	for (uint32_t i = 0; i < m->s->nodes; i++)
		m->has[i] |=
		    has_feature(sim_names_get(m->s->features, m->s->list[i]), set->feature);
	snprintf(what, sizeof(what), "node set %.80s", set->name);
	inner.what = what;
	inner.in_set = true;
	return mark_list(&inner, set->nodes);
}

static int mark_one(const char *name, void *arg)
{
	const struct mark *m = arg;
	uint32_t i = sim_names_find(m->names, name);
	const struct sim_nodeset *set = m->in_set ? NULL : find(m->s, name);

	if (i != UINT32_MAX) {
		m->has[i] = true;
		return CCR_OK;
	}
	if (set)
		return mark_set(m, set);
	if (strcasecmp(name, "ALL") != 0)
		return ccr_error_set(
		    m->err, CCR_EINVAL, 0,
		    "%s: a node (NodeName=)%s or ALL is expected, found \"%.100s\"", m->what,
		    m->in_set ? "" : ", a node set (NodeSet=)", name);
	for (i = 0; i < m->s->nodes; i++)
		m->has[i] = true;
	return CCR_OK;
}

int sim_nodesets_mark(const struct sim_nodesets *s, const struct sim_names *names, const char *list,
		      const char *what, bool *has, struct ccr_error *err)
{
	struct mark m = {s, names, what, false, has, err};

	return mark_list(&m, list);
}
