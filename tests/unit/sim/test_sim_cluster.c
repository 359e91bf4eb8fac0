#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "sccr/sim_cluster.h"

/* Writes text to a file and loads it. */
static int load(struct sim_cluster *c, const char *text, struct ccr_error *e)
{
	char path[] = "/tmp/sim_cluster_XXXXXX";
	int fd = mkstemp(path), rc;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = sim_cluster_load(c, path, e);
	unlink(path);
	return rc;
}

Test(sim_cluster, reads_a_slurm_conf)
{
	struct sim_cluster c;
	struct ccr_error e = {0};

	cr_assert_eq(load(&c,
			  "# comment\n"
			  "ClusterName=x SlurmctldHost=h\n"
			  "PriorityWeightAge=10   # behind a value\n"
			  "NodeName=DEFAULT RealMemory=1000 Sockets=2 CoresPerSocket=8 \\\n"
			  "  ThreadsPerCore=2\n"
			  "NodeName=g[1-2] Gres=gpu:a100:3,gpu:h100:1(S:0),fs:5\n"
			  "nodename=c1 cpus=4 Weight=9 State=UNKNOWN\n"
			  "PartitionName=DEFAULT MaxTime=1-0\n"
			  "PartitionName=gpu Nodes=g[1-2] DefaultTime=30 PriorityTier=2 "
			  "TRESBillingWeights=\"CPU=1.0,GRES/gpu=8\"\n"
			  "PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED\n",
			  &e),
		     0, "%s", e.text);
	cr_assert_eq(c.nodes, 3);
	cr_assert_eq(c.cpus, 68);
	cr_assert_eq(c.gpus, 8);
	cr_assert_eq(c.mem, 3000);
	cr_assert_eq(c.node[0].cpus, 32);
	cr_assert_eq(c.node[0].ntypes, 2);
	cr_assert_str_eq(sim_names_get(c.gpu_types, (uint32_t)c.node[1].type[1]), "h100");
	cr_assert_eq(c.node[1].gpus[0], 3);
	cr_assert_eq(c.node[2].weight, 9);
	cr_assert_eq(c.parts, 2);
	cr_assert(c.part[0].has_node[1] && !c.part[0].has_node[2]);
	cr_assert_eq(c.part[0].default_limit, 1800 * SIM_SECOND);
	cr_assert_eq(c.part[0].max_limit, 86400 * SIM_SECOND);
	cr_assert_eq(c.part[0].tier, 2);
	cr_assert_str_eq(c.part[0].billing, "CPU=1.0,GRES/gpu=8");
	cr_assert_eq(c.part[1].max_limit, SIM_NEVER);
	cr_assert_eq(sim_cluster_part(&c, ""), 1);
	cr_assert_eq(sim_cluster_part(&c, "gpu"), 0);
	cr_assert_eq(sim_cluster_part(&c, "none"), UINT32_MAX);
	cr_assert_str_eq(sim_cluster_setting(&c, "priorityweightage"), "10");
	cr_assert_null(sim_cluster_setting(&c, "PriorityWeightQOS"));
	sim_cluster_free(&c);
}

/* Which of the nodes a partition has, as a word of 0 and 1. */
static const char *nodes_of(const struct sim_cluster *c, const char *part)
{
	static char word[32];
	const struct sim_partition *p = &c->part[sim_cluster_part(c, part)];

	for (uint32_t i = 0; i < c->nodes; i++)
		word[i] = !p->has_node || p->has_node[i] ? '1' : '0';
	word[c->nodes] = '\0';
	return word;
}

Test(sim_cluster, node_sets)
{
	static const char *const parts[][2] = {
	    {"f", "101100"},	 {"big", "001000"},  {"n", "000110"},
	    {"both", "101110"},	 {"list", "101101"}, {"all", "111111"},
	    {"mixed", "111111"}, {"none", "000000"}, {"range", "111100"}};
	struct sim_cluster c;
	struct ccr_error e = {0};

	cr_assert_eq(load(&c,
			  "NodeSet=set1 Feature=fast\n"
			  "nodeset=set2 nodes=a2\n"
			  "NodeName=DEFAULT Features=fast,\"old\"\n"
			  "NodeName=a1\n"
			  "NodeName=a2 Feature=faster,notfast\n"
			  "NodeName=a3 Feature=big,fast\n"
			  "NodeName=a4\n"
			  "NodeName=b[1-2] Feature=fas\n"
			  "NodeSet=n Nodes=a4,b1\n"
			  "NodeSet=both Feature=fast Nodes=b1\n"
			  "NodeSet=every Nodes=ALL\n"
			  "NodeSet=none Feature=fa\n"
			  "PartitionName=f Nodes=set1\n"
			  "NodeSet=big Feature=big\n"
			  "PartitionName=big Nodes=big\n"
			  "PartitionName=n Nodes=n\n"
			  "PartitionName=both Nodes=both\n"
			  "PartitionName=list Nodes=set1,b2,big\n"
			  "PartitionName=all Nodes=every\n"
			  "PartitionName=mixed Nodes=b1,all\n"
			  "PartitionName=none Nodes=none\n"
			  "PartitionName=range Nodes=set[1-2]\n",
			  &e),
		     0, "%s", e.text);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cr_assert_str_eq(nodes_of(&c, parts[i][0]), parts[i][1], "%s: %s", parts[i][0],
				 nodes_of(&c, parts[i][0]));
	sim_cluster_free(&c);
}

Test(sim_cluster, names_file_line_and_what_is_wrong)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
	    {"NodeName=a CPUs=x\n", ":1: a whole number is expected: \"x\""},
	    {"\nNodeName=a[1-\n", ":2: host list"},
	    {"NodeName=a\nNodeName=a\n", ":2: this node is defined twice"},
	    {"NodeName=a Gres=gpu:h100:many\n", "a number of GPUs is expected: \"many\""},
	    {"NodeName=a Gres=gpu:a:1,gpu:b:1,gpu:c:1,gpu:d:1,gpu:e:1\n", "more kinds of GPU"},
	    {"NodeName=a\nPartitionName=p Nodes=b\n", "partition p: a node (NodeName=), a node set "
						      "(NodeSet=) or ALL is expected, found \"b\""},
	    {"NodeName=a\nPartitionName=p Nodes=a[1-\n", ": partition p: host list"},
	    {"NodeName=a\nNodeSet=s Nodes=t\nNodeSet=t Nodes=a\nPartitionName=p Nodes=s\n",
	     ": node set s: a node (NodeName=) or ALL is expected, found \"t\""},
	    {"NodeName=a\nNodeSet=s\n", ":2: a node set without Feature= and Nodes=: \"s\""},
	    {"NodeSet=s Nodes=a\nNodeSet=s Feature=f\n", ":2: this node set is defined twice"},
	    {"NodeName=a\nPartitionName=p MaxTime=soon\n", "a time limit is expected"},
	    {"Include other.conf\n", "included files are not followed"},
	    {"# nothing\n", "no node is defined"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_cluster c;
		struct ccr_error e = {0};

		cr_assert_eq(load(&c, rows[i].text, &e), CCR_EINVAL, "%s", rows[i].text);
		cr_assert_not_null(strstr(e.text, rows[i].said), "%s", e.text);
		sim_cluster_free(&c);
	}
}

Test(sim_cluster, file_that_is_not_there)
{
	struct sim_cluster c;
	struct ccr_error e = {0};

	cr_assert_eq(sim_cluster_load(&c, "/nowhere/slurm.conf", &e), CCR_EIO);
	cr_assert_not_null(strstr(e.text, "No such file"));
	sim_cluster_free(&c);
}

Test(sim_cluster, plain_nodes)
{
	struct sim_cluster c;
	struct ccr_error e = {0};

	cr_assert_eq(sim_cluster_plain(&c, 3, 8, 2, 0, &e), 0);
	cr_assert_eq(c.cpus, 24);
	cr_assert_eq(c.gpus, 6);
	cr_assert_eq(sim_cluster_part(&c, ""), 0);
	cr_assert_str_eq(c.node[2].name, "n3");
	sim_cluster_free(&c);
}
