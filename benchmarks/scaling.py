"""Many cores and many machines: what parallel training costs and what it gains.

    python benchmarks/scaling.py [--quick] [--parts threads passes ...] [--groups tags ...]
                                 [--repeats 5] [--threads 1 2]

threads      fits of every family with n_jobs=1 and 2: seconds, passes, peak memory, beside
             the limit of the machine's cores, which is measured first
passes       to the same certified gap with 1, 2, 4, 8 and 16 threads
end-to-end   ``maxmargin train tag`` from file to model with --jobs 1 and 2
cluster      one process against two local Dask workers, and the bytes moved per round
rounds       needed on 2, 4, 8 and 16 shards, and by other methods
billion      what that means for a billion sentences on 1,000 machines

Seconds are wall time of ``fit`` with kernels compiled and loaded before, medians of fresh
processes that take turns; libraries have the threads that users give them. ``--threads 1 2
4 8 16`` is for machines with more cores: times and speedups; the targets are those of two.
"""

from __future__ import annotations

import argparse
import os

from common import Targets, header, need_package, start
from scaling_cluster import cluster
from scaling_files import end_to_end
from scaling_tasks import GROUPS
from scaling_threads import passes, threads

CLUSTER = ("cluster", "rounds", "billion")
HERE = ("threads", "passes", "end-to-end")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="few tasks, run once; no cluster"
    )
    parser.add_argument("--parts", nargs="+", choices=(*HERE, *CLUSTER))
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--repeats", type=int, default=5, help="runs of a median")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--tokens", type=int, help="made ones, for the part cluster")
    parser.add_argument("--limit", type=float, help="of two cores, measured before")
    options = parser.parse_args()
    options.parts = options.parts or HERE + (() if options.quick else CLUSTER)
    repeats = 1 if options.quick else options.repeats
    header("Parallel training")
    targets = Targets()
    if "threads" in options.parts:
        known = options.limit, targets
        threads(options.groups, options.threads, repeats, options.quick, *known)
    if "passes" in options.parts:
        passes(options.groups, options.quick, targets)
    if "end-to-end" in options.parts:
        end_to_end(options.threads, repeats, options.quick, targets)
    chosen = [part for part in CLUSTER if part in options.parts]
    if chosen:
        need_package("dask and distributed", "distributed")
        cluster(chosen, options.tokens, options.quick, targets)
    targets.show()
    return 0


if __name__ == "__main__":
    os.environ["MAXMARGIN_BENCH_THREADS"] = "users"
    start(main)
