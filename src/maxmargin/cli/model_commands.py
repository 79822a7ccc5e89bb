"""What the commands say of themselves that read a model: predict, evaluate, ..."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MODEL = "what `maxmargin train` wrote"
SHARED = "--n-jobs  threads (default: 1)"
STRUCTURE = (
    "--structure MODULE:CLASS  the class of a structure of your own, as in train"
)


@dataclass(frozen=True)
class ModelCommand:
    """A command; ``own`` is where tasks describe options that only they know."""

    about: str
    example: str
    options: str
    description: str = ""
    file: dict[str, Any] | None = field(default_factory=dict)  # None: it reads none
    own: str = ""
    usage: str | None = None


COMMANDS = {
    "predict": ModelCommand(
        "predict the outputs of a file",
        """example:
  maxmargin predict ner.model new.txt -o tagged.txt
  maxmargin predict ner.model new.txt --marginals | less

The model remembers its task and how its files are written; the page of the task in docs/
describes inputs and outputs. A file appears whole or not at all.""",
        """
        -o, --output OUT=-  default: standard output
        --format NAME  format of OUT: FORMATS (default: by the ending of its name)
        --encoding NAME  of FILE and OUT (default: that of the training file)
        """,
        "Predict the outputs of a file with a model.",
        own="predict_options",
    ),
    "evaluate": ModelCommand(
        "compare predictions with the truth",
        """example:
  maxmargin evaluate ner.model test.txt --confusion errors.png
  maxmargin evaluate parser.model test.mrg --plot worst.png
  maxmargin evaluate tagged.txt

Without a model, the file has tokens, one per line, and its last two columns are the
truth and the prediction.""",
        """
        --json  print the numbers as JSON, from 0 to 1
        --plot FILE.png  draw the predictions beside the truth
        --encoding NAME  of FILE (default: that of the training file, or utf-8)
        """,
        "Compare predictions with the truth, using the measures of the task.",
        {"nargs": "?"},
        "evaluate_options",
        "%(prog)s [options] [MODEL] FILE",
    ),
    "report": ModelCommand(
        "write a page about a model and its errors",
        """example:
  maxmargin report ner.model test.txt -o report.html
  maxmargin report ner.model test.txt --against old.model -o both.html""",
        """
        -o, --output PAGE.html=report.html  the page (default: report.html)
        --against MODEL  another model of the same task, to compare with
        --limit N=150  draw at most N examples with errors (default: 150)
        --encoding NAME  of FILE (default: that of the training file)
        """,
        "Write a page about a model and its errors on a test file: one HTML file that\n"
        "needs no network.",
    ),
    "inspect": ModelCommand(
        "show what a model has learned",
        """example:
  maxmargin inspect ner.model --top 5 --label B-PER
  maxmargin inspect ner.model --transitions --plot transitions.png
  maxmargin inspect aligner.model --export costs.txt""",
        """
        --top N=10  the N strongest weights (default: 10), for tags of every label; 0 for
            none
        --json  print as JSON
        --plot FILE.png  draw what was learned, such as transitions
        --export FILE  write all weights as text for other programs
        """,
        "Show what a model has learned, and how it was trained.",
        None,
        "inspect_options",
    ),
}
