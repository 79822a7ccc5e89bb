"""Networks with a chain, from scratch: letters of OCR words, chunks of CoNLL-2000.

    python benchmarks/neural.py --seeds 0 1 2 3 4        # on a GPU
    python benchmarks/neural.py --small --seeds 0        # on one core

Every row and seed is a run of its own, whose result is kept in bench_output/neural: runs
that are there are not made again (``--again`` makes them). All training data are trained
on, for a fixed number of passes; nothing is chosen by the test data. ``--choose`` trains
without a tenth of the training data and tests on that, for choosing settings.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from common import (
    Clock,
    Targets,
    accuracy,
    fresh,
    header,
    load_letters,
    need_data,
    need_package,
    read_columns,
    span_f1,
    start,
    table,
    worker,
)

OUTPUT = Path("bench_output") / "neural"
ROWS = {
    "letters-log": ("letters", "log"),
    "letters-hinge": ("letters", "hinge"),
    "chunks-log": ("chunks", "log"),
    "chunks-hinge": ("chunks", "hinge"),
}
UNITS = {"letters": "% of letters wrong", "chunks": "span F1"}
WANTED = {"letters": 2.0, "chunks": 94.0}
# the full size, meant for a GPU, and what one core does (--small)
LARGE = {"letters": {"passes": 40, "width": 64}, "chunks": {"passes": 20, "width": 200}}
SMALL = {"letters": {"passes": 20, "width": 16}, "chunks": {"passes": 8, "width": 100}}
SHARE = 0.1  # of the training data, that --choose tests on


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--small", action="store_true", help="what one core can do")
    parser.add_argument("--passes", type=int, help="instead of those of the row")
    parser.add_argument("--width", type=int, help="filters, or states of the LSTM")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--choose", action="store_true", help="test on training data")
    parser.add_argument("--again", action="store_true", help="also what is there")
    args = parser.parse_args()
    need_data("ocr_letters/letters.npz", "conll2000/train.txt.gz")
    need_package("PyTorch", "torch")
    header("NeuralTagger from scratch")
    results = {
        row: [_result(row, seed, args) for seed in args.seeds] for row in args.rows
    }
    _show(results, args)
    return 0


def _result(row: str, seed: int, args) -> dict:
    """Of one run: from its file, or made now."""
    data, objective = ROWS[row]
    settings = dict((SMALL if args.small else LARGE)[data])
    for name in ("passes", "width"):
        if getattr(args, name) is not None:
            settings[name] = getattr(args, name)
    settings |= {"objective": objective, "device": args.device, "choose": args.choose}
    name = "-".join(str(v) for v in settings.values())
    path = OUTPUT / f"{data}-{name}-{seed}.json"
    if path.exists() and not args.again:
        return json.loads(path.read_text())
    result = fresh({"letters": letters, "chunks": chunks}[data], seed=seed, **settings)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1))
    print(
        f"{row}, seed {seed}, {settings['passes']} passes, width {settings['width']}: "
        f"{result['score']:.2f} {UNITS[data]}, {result['train']:.0f} s to train, "
        f"{result['busy']:.2f} of a core, on {result['device']}",
        flush=True,
    )
    return result


def _show(results: dict, args) -> None:
    lines, targets = [], Targets()
    for row, found in results.items():
        data = ROWS[row][0]
        scores = [result["score"] for result in found]
        mean = statistics.fmean(scores)
        spread = statistics.stdev(scores) if len(scores) > 1 else None
        seconds = statistics.fmean(result["train"] for result in found)
        lines.append([row, UNITS[data], f"{mean:.2f}", spread, len(scores), seconds])
        if not args.choose:
            add = targets.at_most if data == "letters" else targets.at_least
            add(f"{row}, {UNITS[data]}", mean, WANTED[data])
    table(["row", "measure", "mean", "spread", "seeds", "train s"], lines)
    targets.show()


# workers --------------------------------------------------------------------------------


@worker
def letters(
    seed: int, passes: int, width: int, objective: str, device: str, choose: bool
) -> dict:
    """Pixels of letters through filters that are shifted by up to a pixel."""
    train, test = load_letters(train=True), load_letters(train=False)
    if choose:
        train, test = _parted(*train)
    settings = {"encoder": lambda size: _filters(width), "learning_rate": 3e-3}
    settings |= {"batch_size": 64 if width >= 64 else 16}
    model, clock = _fitted(train, seed, passes, objective, device, settings)
    found = model.predict(test[0])
    return _row(model, clock, 100.0 - accuracy(test[1], found))


@worker
def chunks(
    seed: int, passes: int, width: int, objective: str, device: str, choose: bool
) -> dict:
    """Words, their characters and parts of speech through an LSTM."""
    train, test = _sentences("train"), _sentences("test")
    if choose:
        train, test = _parted(*train)
    settings = {"hidden_size": width, "scheme": "BIO"}
    model, clock = _fitted(train, seed, passes, objective, device, settings)
    found = model.predict(test[0])
    return _row(model, clock, span_f1(test[1], found))


def _fitted(train, seed, passes, objective, device, settings) -> tuple:
    from maxmargin import NeuralTagger

    model = NeuralTagger(
        objective=objective,
        max_iter=passes,
        validation_fraction=0,
        device=device,
        random_state=seed,
        verbose=1,
        **settings,
    )
    with Clock() as clock:
        model.fit(*train)
    return model, clock


def _row(model, clock: Clock, score: float) -> dict:
    import torch

    device = model.network_.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "one core"
    return {"score": score, "train": clock.wall, "cpu": clock.cpu, "device": name}


def _sentences(part: str) -> tuple[list, list]:
    (path,) = need_data(f"conll2000/{part}.txt.gz")
    sentences = read_columns(path)
    X = [[row[:-1] for row in sentence] for sentence in sentences]
    return X, [[row[-1] for row in sentence] for sentence in sentences]


def _parted(X: list, y: list) -> tuple[tuple, tuple]:
    """Every tenth sequence apart from the others."""
    every = round(1 / SHARE)
    rest = [i for i in range(len(y)) if i % every]
    held = range(0, len(y), every)
    return tuple(
        ([X[i] for i in chosen], [y[i] for i in chosen]) for chosen in (rest, held)
    )


def _filters(width: int):
    """Four layers of filters over 16 x 8 pixels, and a layer over all they find."""
    import torch
    from torch import nn

    class Shift(nn.Module):
        """In training, all pictures of a batch are moved by up to a pixel."""

        def forward(self, x):
            if not self.training:
                return x
            down, right = torch.randint(0, 3, (2,)).tolist()
            wide = nn.functional.pad(x, (1, 1, 1, 1))
            return wide[:, :, down : down + 16, right : right + 8]

    def block(first: int, second: int) -> list:
        return [
            *(
                nn.Conv2d(first, second, 3, padding=1),
                nn.BatchNorm2d(second),
                nn.ReLU(),
            ),
            *(nn.Conv2d(second, second, 3, padding=1), nn.BatchNorm2d(second)),
            *(nn.ReLU(), nn.MaxPool2d(2)),
        ]

    return nn.Sequential(
        *(nn.Unflatten(1, (1, 16, 8)), Shift()),
        *(*block(1, width), nn.Dropout(0.1), *block(width, 2 * width)),
        *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(16 * width, 4 * width)),
        *(nn.ReLU(), nn.Dropout(0.3)),
    )


if __name__ == "__main__":
    start(main)
