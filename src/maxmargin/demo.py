"""A first look in half a minute: reading handwritten page numbers.

    python -m maxmargin.demo [--output DIR]

Trains a chain (:class:`maxmargin.SequenceTagger`) and, on the same pixels, a classifier
that reads every digit alone (:class:`maxmargin.MulticlassSVM`); prints how well both
read strings they have not seen, what is proved about the training, and saves pictures
and the model. The data are described in :func:`maxmargin.files.digit_strings`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import maxmargin
from maxmargin import files, plots
from maxmargin.core.kernel import cache_statistics
from maxmargin.plots.cells import save_figure

# Three-fold cross-validation on the training pictures (whole forms left out, 500
# strings) found this C best for the independent classifier, of 0.01, 0.03, 0.1, ..., 3.
# The chain reads about equally well with all of these.
C = 0.03
TOL = 0.001


class Reading(NamedTuple):
    """What one model reads; the shares of digits and of whole strings read right."""

    labels: list[list[int]]
    digits: float
    strings: float

    @classmethod
    def of(cls, labels, truth) -> Reading:
        right = np.array(list(labels)) == np.array(list(truth))
        return cls(labels, right.mean(), right.all(axis=1).mean())


def run(output: str | Path, n_train: int = 1000, n_test: int = 500) -> dict:
    """Train, compare, save and report; returns ``{"independent": ..., "chain": ...}``.

    The values are :class:`Reading` objects of the test strings.
    """
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    train = files.digit_strings(n_train, split="train")
    test = files.digit_strings(n_test, split="test")
    print("Reading handwritten page numbers")
    print("================================")
    print(
        "A notebook has lost some pages. The last digits of the page numbers left\n"
        f"make strings such as {' '.join(map(str, test.y[0]))}. Train on {n_train} of "
        f"them, then read {n_test}\nothers, made of scanned digits not seen before.\n"
    )
    _compile(train)
    chain, chain_seconds = _train_chain(train)
    single, single_seconds = _train_single(train)
    readings = {
        "independent": Reading.of(_read_single(single, test.X), test.y),
        "chain": Reading.of(chain.predict(test.X), test.y),
    }
    print("\n                    digits right   strings right   training")
    for (name, reading), seconds in zip(
        readings.items(), (single_seconds, chain_seconds), strict=True
    ):
        print(
            f"  {name:<16}  {reading.digits:>11.1%}   {reading.strings:>13.1%}   "
            f"{seconds:>6.2f} s"
        )
    _report_certificate(chain)
    _save_model(chain, output, test.X, readings["chain"].labels)
    _save_pictures(chain, output, test, readings)
    return readings


# models ------------------------------------------------------------------------------


def _train_chain(strings, tol=TOL):
    began = time.perf_counter()
    model = maxmargin.SequenceTagger(C=C, tol=tol).fit(strings.X, strings.y)
    return model, time.perf_counter() - began


def _train_single(strings, tol=TOL):
    began = time.perf_counter()
    X, y = np.vstack(strings.X), np.concatenate(strings.y)
    return maxmargin.MulticlassSVM(C=C, tol=tol).fit(X, y), time.perf_counter() - began


def _read_single(model, X) -> list[list[int]]:
    return [model.predict(x).tolist() for x in X]


def _compile(strings) -> None:
    """Run everything once on a few strings, so that times below are of training."""
    print("Preparing compiled code ...", end=" ", flush=True)
    before = _compiled(cache_statistics())
    began = time.perf_counter()
    few = type(strings)(*(part[:20] for part in strings))
    _train_chain(few)[0].predict(few.X)
    _train_single(few)
    seconds = time.perf_counter() - began
    if _compiled(cache_statistics()) > before:
        print(f"{seconds:.0f} s, this first time; it is kept for the next.")
    else:
        print(f"{seconds:.1f} s, kept from an earlier run.")


def _compiled(statistics) -> int:
    return sum(compiled for _, compiled in statistics.values())


# report ------------------------------------------------------------------------------


def _report_certificate(model) -> None:
    proof = model.certificate_
    print(
        "\nThe chain's training ends with a certificate: its weights reach the\n"
        "primal, and no weights can get below the dual.\n"
        f"  primal {proof.primal:.4f}   dual {proof.dual:.4f}   "
        f"relative gap {proof.relative_gap:.3%}   {model.n_iter_} passes"
    )


def _save_model(model, output, X, labels) -> None:
    import maxmargin

    path = output / "page_numbers.safetensors"
    maxmargin.save(model, path)
    if maxmargin.load(path).predict(X) != labels:
        raise RuntimeError(f"the model loaded from {path} predicts differently.")
    size = path.stat().st_size / 1000
    print(f"\nSaved in {output}:")
    print(f"  {path.name}  the chain, {size:.0f} kB (loaded back: reads the same)")


def _save_pictures(model, output, test, readings) -> None:
    try:
        convergence = plots.plot_convergence(model)
    except ImportError as error:
        print(f"  no pictures. {error}")
        return
    transitions = plots.plot_transitions(model)
    likes = model.transitions_.argmax(axis=1)
    if likes.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]:
        title = "The chain has learned to count: every digit seeks the next one"
        transitions.axes[0].set_title(title, loc="left", fontsize=11)
    pictures = {
        "convergence.png": (convergence, "how the certificate closed"),
        "transitions.png": (transitions, "which digit the chain expects after which"),
        "predictions.png": (_misread(test, readings), "strings that were misread"),
    }
    from matplotlib import pyplot

    for name, (figure, meaning) in pictures.items():
        save_figure(figure, output / name)
        pyplot.close(figure)
        print(f"  {name:<24}  {meaning}")


def _misread(test, readings, most=6):
    """The first test strings in which either model is wrong; some, if there is none."""
    both = zip(test.y, *(reading.labels for reading in readings.values()), strict=True)
    wrong = [i for i, (truth, *read) in enumerate(both) if read != [truth] * len(read)]
    shown = (wrong or list(range(len(test.y))))[:most]
    truth = [test.y[i] for i in shown]
    read = {
        name: [reading.labels[i] for i in shown] for name, reading in readings.items()
    }
    title = f"The first {len(shown)} test strings that at least one model misreads"
    return plots.plot_predictions(
        [test.images[i] for i in shown], truth, read, title if wrong else None
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m maxmargin.demo",
        description="Read handwritten page numbers with a chain and without.",
    )
    parser.add_argument(
        "--output",
        default="demo_output",
        metavar="DIR",
        help="folder for the model and the pictures (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        run(options.output)
    except OSError as error:
        parser.error(f"cannot write into {options.output}: {error.strerror or error}.")
    print(f"\nAll of it took {time.perf_counter() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
