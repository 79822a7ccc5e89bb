"""What the benchmarks share: data, features, scores, fresh processes, tables.

Every measured function is a *worker*: it runs alone in a new process on one core, so
that its peak memory is its own and no tool warms up for another. The process that
prints the tables loads no data: a new process starts with its parent's peak as its own.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
PACKAGES = ("maxmargin", "numpy", "numba", "scikit-learn", "python-crfsuite")

# data -------------------------------------------------------------------------


def data_file(name: str) -> Path | None:
    """Where ``name`` is, below MAXMARGIN_DATA or ../shared/data, or None."""
    folder = os.environ.get("MAXMARGIN_DATA")
    if not folder:
        folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(folder) / name
    return path if path.exists() else None


def need_data(*names: str) -> list[Path]:
    """The paths of these files; ends with a sentence if one is missing."""
    paths = [data_file(name) for name in names]
    missing = [name for name, path in zip(names, paths, strict=True) if path is None]
    if missing:
        skip(
            f"{', '.join(missing)} not found; set MAXMARGIN_DATA to the folder that "
            "holds it"
        )
    return paths


def need_package(name: str, module: str) -> None:
    """Ends the benchmark with a sentence if a peer is not installed."""
    if importlib.util.find_spec(module) is None:
        skip(f"{name} is not installed; pip install 'maxmargin[bench]'")


def skip(reason: str) -> None:
    print(f"skipped: {reason}.")
    sys.exit(0)


def read_columns(path) -> list[list[list[str]]]:
    """Sentences of a CoNLL file (gzip or plain): lists of rows of columns."""
    opener = gzip.open if str(path).endswith(".gz") else open
    sentences, rows = [], []
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            columns = line.split()
            if columns:
                rows.append(columns)
            elif rows:
                sentences.append(rows)
                rows = []
    if rows:
        sentences.append(rows)
    return sentences


def load_chunks(part: str, share: float = 1.0):
    """CoNLL-2000 ``train`` or ``test``: (string features, labels) per sentence."""
    (path,) = need_data(f"conll2000/{part}.txt.gz")
    sentences = read_columns(path)
    sentences = sentences[: round(share * len(sentences))]
    X = [chunk_features(sentence) for sentence in sentences]
    y = [[row[-1] for row in sentence] for sentence in sentences]
    return X, y


def chunk_features(sentence) -> list[list[str]]:
    """19 strings per token: words and tags nearby, alone and joined with neighbours."""
    words = _padded([row[0] for row in sentence])
    tags = _padded([row[1] for row in sentence])
    features = []
    for t in range(2, len(words) - 2):
        a, b, c, d, e = words[t - 2 : t + 3]
        p, q, r, s, u = tags[t - 2 : t + 3]
        features.append(
            [
                f"w[-2]={a}",
                f"w[-1]={b}",
                f"w[0]={c}",
                f"w[1]={d}",
                f"w[2]={e}",
                f"w[-1]|w[0]={b}|{c}",
                f"w[0]|w[1]={c}|{d}",
                f"p[-2]={p}",
                f"p[-1]={q}",
                f"p[0]={r}",
                f"p[1]={s}",
                f"p[2]={u}",
                f"p[-2]|p[-1]={p}|{q}",
                f"p[-1]|p[0]={q}|{r}",
                f"p[0]|p[1]={r}|{s}",
                f"p[1]|p[2]={s}|{u}",
                f"p[-2]|p[-1]|p[0]={p}|{q}|{r}",
                f"p[-1]|p[0]|p[1]={q}|{r}|{s}",
                f"p[0]|p[1]|p[2]={r}|{s}|{u}",
            ]
        )
    return features


def _padded(column: list[str]) -> list[str]:
    return ["<s2>", "<s1>", *column, "</s1>", "</s2>"]


def load_letters(train: bool):
    """OCR letters: (0/1 pixels, labels) per word; folds 1-9 train, fold 0 test."""
    import numpy as np

    (path,) = need_data("ocr_letters/letters.npz")
    with np.load(path, allow_pickle=False) as data:
        pixels = np.unpackbits(data["pixels_packed"], axis=1).astype(np.float64)
        labels, cut = data["labels"].astype(int), data["word_offsets"]
        folds = data["word_fold"]
    words = np.flatnonzero((folds != 0) == train)
    X = [pixels[cut[i] : cut[i + 1]] for i in words]
    return X, [labels[cut[i] : cut[i + 1]] for i in words]


# scores -----------------------------------------------------------------------


def spans(tags) -> set[tuple[int, int, str]]:
    """Chunks (begin, end, type) as conlleval reads them.

    A chunk goes on through I- tags of its own type; B-, O or another type end it. An
    I- tag without a chunk to continue begins one.
    """
    found, begin, kind = set(), 0, ""
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, this = tag.partition("-")
        if kind and not (prefix == "I" and this == kind):
            found.add((begin, t, kind))
            kind = ""
        if prefix != "O" and not kind:
            begin, kind = t, this
    return found


def span_f1(truth, predicted) -> float:
    """F1 of chunks in per cent."""
    right = given = wanted = 0
    for tags, guess in zip(truth, predicted, strict=True):
        a, b = spans(tags), spans(guess)
        right, wanted, given = right + len(a & b), wanted + len(a), given + len(b)
    return 200.0 * right / (wanted + given)


def accuracy(truth, predicted) -> float:
    """Share of labels that are right, in per cent, over all sequences."""
    right = total = 0
    for tags, guess in zip(truth, predicted, strict=True):
        right += sum(str(a) == str(b) for a, b in zip(tags, guess, strict=True))
        total += len(tags)
    return 100.0 * right / total


# fresh processes --------------------------------------------------------------

_workers = {}


def worker(function):
    """Mark a function of JSON values to a dict that :func:`fresh` may call."""
    _workers[function.__name__] = function
    return function


def fresh(function, kill_after: float | None = None, **arguments) -> dict:
    """Call a worker in a new process.

    One that is ended after ``kill_after`` seconds returns only ``ended_cpu``, the CPU
    seconds it had used by then.

    To its result come ``peak_mb``, the largest memory the process had, and ``busy``,
    its share of the core: well below 1 means that something else was running.
    """
    script = sys.modules["__main__"].__file__
    command = [sys.executable, script, "--worker", function.__name__]
    before = _children_cpu()
    try:
        done = subprocess.run(
            [*command, json.dumps(arguments)],
            stdout=subprocess.PIPE,
            timeout=kill_after,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"ended_cpu": _children_cpu() - before}
    result = json.loads(done.stdout.splitlines()[-1])
    if result.get("compiled_while_timing"):
        print(f"  note: {function.__name__} compiled a kernel while it was timed.")
    if result.get("compiled_before"):
        print(f"  note: the peak memory of {function.__name__} includes the compiler.")
    return result


def start(run) -> None:
    """Run the benchmark, or the one worker that this process was started for."""
    single_thread()
    if sys.argv[1:2] == ["--worker"]:
        _serve(sys.argv[2], json.loads(sys.argv[3]))
    else:
        sys.exit(run())


def _serve(name: str, arguments: dict) -> None:
    warnings.simplefilter("ignore")
    with Clock() as clock:
        result = _workers[name](**arguments)
    result["busy"] = clock.busy
    result["peak_mb"] = peak_mb()
    print(json.dumps(result), flush=True)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """The largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def single_thread() -> None:
    """One thread in every library, and one core where the system can pin it.

    With MAXMARGIN_BENCH_THREADS=users in the environment, or ``--as-users`` among the
    arguments, nothing is pinned: libraries have the threads that users give them.
    """
    if "--as-users" in sys.argv:
        sys.argv.remove("--as-users")
        os.environ["MAXMARGIN_BENCH_THREADS"] = "users"
    if _as_users():
        return
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _as_users() -> bool:
    return os.environ.get("MAXMARGIN_BENCH_THREADS") == "users"


class Clock:
    """``with Clock() as clock: ...`` then ``clock.wall`` and ``clock.cpu`` seconds."""

    def __enter__(self):
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu
        self.busy = self.cpu / max(self.wall, 1e-9)


@contextlib.contextmanager
def no_compiling(result: dict):
    """Count the kernels compiled inside the block and before: should be none."""
    result["compiled_before"] = _compiled()
    yield
    result["compiled_while_timing"] = _compiled() - result["compiled_before"]


def _compiled() -> int:
    from maxmargin.core.kernel import cache_statistics

    return sum(compiled for _, compiled in cache_statistics().values())


def warm_tagger(dense: bool = False) -> None:
    """Load or compile what SequenceTagger runs, on two tiny sequences."""
    import numpy as np

    from maxmargin import SequenceTagger

    X = [[["a"], ["b", "c"]], [["b"], ["a"], ["c"]]]
    y = [["x", "y"], ["y", "x", "y"]]
    if dense:
        X = [np.eye(3)[:2], np.eye(3)]
    SequenceTagger(tol=1e-3).fit(X, y).predict(X)


def warm_multiclass(dtype: str = "float64") -> None:
    """Load or compile what MulticlassSVM runs, on three tiny rows.

    Ones are kept in single precision whatever their type, thirds in that of the input.
    """
    import numpy as np

    from maxmargin import MulticlassSVM

    rows = np.eye(3, dtype=dtype)
    for X in (rows, rows / 3):
        MulticlassSVM(fit_intercept=False, tol=1e-3).fit(X, [0, 1, 2])


# printing ---------------------------------------------------------------------


BUSY = (
    "runs: medians of that many processes. busy: CPU time over wall time; below 0.95"
    "\nthe machine was shared, and the CPU seconds, which decide, are more reliable."
)


def machine() -> str:
    """One line: processor, cores, versions."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    used = "" if _as_users() else ", one used"
    return f"{name}, {os.cpu_count()} cores{used}; {', '.join(versions)}"


def header(title: str) -> None:
    print(title)
    print(machine())
    print(
        "Every row is a fresh process. Compiled kernels are loaded (or compiled) on a "
        "tiny\nproblem first: compiling counts in nobody's time."
    )


def table(columns: list[str], rows: list[list]) -> None:
    """Print rows of text and numbers, aligned; text to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    left = [
        all(isinstance(row[j], str) for row in rows) if rows else True
        for j in range(len(columns))
    ]
    print()
    for row in [columns, ["-" * width for width in widths], *cells]:
        parts = [
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        ]
        print("  ".join(parts).rstrip())
    sys.stdout.flush()


def _cell(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)


class Targets:
    """Collects claims, prints each with the word pass or FAIL."""

    def __init__(self):
        self.rows = []

    def at_most(self, what: str, value: float, limit: float, shown: str = "") -> None:
        self._add(what, value, f"<= {shown or f'{limit:g}'}", value <= limit)

    def at_least(self, what: str, value: float, limit: float) -> None:
        self._add(what, value, f">= {limit:g}", value >= limit)

    def _add(self, what, value, target, good) -> None:
        self.rows.append([what, f"{value:.4g}", target, "pass" if good else "FAIL"])

    def show(self) -> None:
        if self.rows:
            table(["target", "measured", "wanted", ""], self.rows)


def median(results: list[dict], key: str) -> float:
    """The median of one number over repeated runs."""
    values = sorted(result[key] for result in results)
    middle = len(values) // 2
    if len(values) % 2:
        return values[middle]
    return (values[middle - 1] + values[middle]) / 2
