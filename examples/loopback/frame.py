"""What the loopback examples share: options, a cluster that goes away however the program ends, and
commands shown with what they print."""
import argparse
import glob
import os
import shlex
import signal
import sys
import tempfile
import textwrap

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "tests", "cluster"))
from ccrcluster import Cluster, ClusterError, Nodes  # noqa: E402

MOST_NODES = 512  # a slurmd each: 1.3 MB and a port
KEPT = "kept-by-demo"  # in the folder of a cluster that --keep left up

__all__ = ["ClusterError", "Nodes", "main", "pair", "say", "show"]


def node_count(text):
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_NODES:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a number of nodes from 1 to {MOST_NODES}")
    return int(text)


def options(description, one_cluster=True):
    """The command line of an example; --keep and the number of nodes are for one of one cluster."""
    parser = argparse.ArgumentParser(prog="./demo", description=description)
    if one_cluster:
        parser.add_argument("--keep", action="store_true",
                            help="leave the cluster up and say how to talk to it")
        parser.add_argument("--stop", nargs="?", const="", metavar="DIR",
                            help="end the clusters that --keep left up (or that in DIR)")
        parser.add_argument("--nodes", type=node_count, default=64, metavar="N",
                            help="nodes, each with its own slurmd (default: %(default)s)")
    parser.add_argument("--gpu", action="store_true", help="the GPU example instead")
    # ./demo looks at the options before it builds anything.
    parser.add_argument("--only-options", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only_options:
        sys.exit(0)
    return args


def stop_kept(folder):
    folders = [folder] if folder else [os.path.dirname(mark) for mark in glob.glob(
        os.path.join(tempfile.gettempdir(), "ccr-cluster-*", KEPT))]
    ended = [f for f in folders if Cluster.end_kept(f)]
    print(f"ended {', '.join(ended)}" if ended else "no cluster was kept")
    return 0 if ended or not folder else 1


def main(description, cluster_arguments, story, prepare=None):
    """Runs story(cluster, options) on a Cluster of cluster_arguments(options). prepare(cluster,
    options) comes before anything is started, to lay files into the cluster's folder."""
    args = options(description)
    if args.stop is not None:
        return stop_kept(args.stop)
    # The end of a terminal or of a session ends the cluster as Ctrl-C does.
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda number, _: sys.exit(128 + number))
    cluster = None
    kept = False
    try:
        cluster = Cluster(**cluster_arguments(args))
        if prepare:
            prepare(cluster, args)
        cluster.start()
        story(cluster, args)
        if args.keep:
            kept = True
            cluster.detach()
            open(os.path.join(cluster.root, KEPT), "w").close()
            say(f"""The cluster stays up in {cluster.root}. To talk to it:

                    export SLURM_CONF={cluster.root}/etc/slurm.conf
                    sprio -l; squeue; scontrol show job; less {cluster.root}/log/slurmctld.log

                To end it: ./demo --stop""")
    except KeyboardInterrupt:
        print("\ninterrupted: taking the cluster down", file=sys.stderr)
        return 130
    except ClusterError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    finally:
        if cluster and not kept:
            cluster.stop()
    return 0


def pair(description, cluster_arguments, story):
    """Runs story(stock, ours) on two clusters side by side: cluster_arguments(False) and (True)."""
    options(description, one_cluster=False)
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda number, _: sys.exit(128 + number))
    clusters = []
    try:
        for ours in (False, True):
            clusters.append(Cluster(**cluster_arguments(ours)))
            clusters[-1].start()
        story(*clusters)
    except KeyboardInterrupt:
        print("\ninterrupted: taking the clusters down", file=sys.stderr)
        return 130
    except ClusterError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    finally:
        for cluster in clusters:
            cluster.stop()
    return 0


def say(text):
    """A paragraph; lines of a block that is indented stay as they are."""
    for part in textwrap.dedent("                " + text.lstrip()).strip().split("\n\n"):
        if part.startswith(" "):
            print(textwrap.dedent(part).replace("\n", "\n    ").join(["    ", ""]))
        else:
            print(textwrap.fill(" ".join(part.split()), 100))
        print()


def show(cluster, command, meaning=None):
    """Prints a command as one would type it, what it prints, and what to see in it."""
    print(f"$ {command}")
    words = shlex.split(command)
    print(cluster.run(*words).stdout.rstrip())
    if meaning:
        print(textwrap.fill(" ".join(meaning.split()), 96, initial_indent="  -> ",
                            subsequent_indent="     "))
    print(flush=True)
