"""Fits killed with kill -9 at random moments: a program, for ``test_checkpoint_faults``.

    python killed_fits.py FOLDER KILLS

Kernels are loaded once, by whole fits, whose outcomes are what the killed ones must reach.
Children are forked before they fit; they tell of every pass through a pipe, so that the
moment is random in passes, whatever else the machine does. Some fits are killed several
times. Prints a JSON object.
"""

import json
import os
import random
import shutil
import signal
import sys
import time

from checkpoint_cases import fitted, outcome

from maxmargin import Checkpoint

VARIED = (
    "exact blocks",
    "planes of classes",
    "one-slack",
    "n-slack",
    "exponentiated",
    "lbfgs",
    "tags",
    "functions",
    "functions, one-slack",
    "hidden, self-paced",
)
AGAIN = 0.4  # chance that a fit is killed once more


def main(folder: str, kills: int) -> dict:
    rng = random.Random(0)
    killed, resumed, different = 0, 0, []
    whole: dict = {}
    number = 0
    while killed < kills:
        case = VARIED[number % len(VARIED)]
        number += 1
        if case not in whole:
            rows: list = []
            began = time.perf_counter()
            model = fitted(case, callbacks=[rows.append])
            seconds = (time.perf_counter() - began) / len(rows)
            whole[case] = outcome(model), len(rows), seconds
        wanted, passes, seconds = whole[case]
        own = os.path.join(folder, str(number))
        before = 0
        while killed < kills:
            left = max(passes - before, 1)
            moment = rng.randint(0, max(left - 1, 0)), rng.uniform(0, 1.5 * seconds)
            seen = kill_one(case, own, *moment)
            before += max(seen - 1, 0)
            killed += 1
            if rng.random() > AGAIN:
                break
        resumed += any(name.endswith(".checkpoint") for name in os.listdir(own))
        found = fitted(case, checkpoint=own, resume=True)
        if outcome(found) != wanted:
            different.append([case, own])
        shutil.rmtree(own)
    counts = {"fits": number, "killed": killed, "resumed": resumed}
    return counts | {"different": different}


def kill_one(case: str, folder: str, passes: int, later: float) -> int:
    """Kill a fit so many seconds after so many passes; returns the passes seen."""
    ear, mouth = os.pipe()
    os.makedirs(folder, exist_ok=True)
    child = os.fork()
    if child == 0:
        os.close(ear)
        place = Checkpoint(folder, every=0)
        tell = [lambda row: os.write(mouth, b".") and None]
        fitted(case, checkpoint=place, resume=True, callbacks=tell)
        os.close(mouth)
        while True:  # a fit that has ended waits to be killed
            time.sleep(1.0)
    os.close(mouth)
    seen = 0
    while seen < passes:
        heard = os.read(ear, passes - seen)
        if not heard:
            break
        seen += len(heard)
    time.sleep(later)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ear)
    return seen


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
