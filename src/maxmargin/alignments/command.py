"""The task ``align``: align pairs of sequences."""

from maxmargin.cli.task import K_BEST, MARGINALS, Output, Task


class AlignTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "align"
    about = (
        "Align pairs of sequences: learn substitution and gap scores from alignments."
    )
    example = """example:
  maxmargin train align pairs.tsv --C 100 -o aligner.model
  maxmargin train align family.sto --tracks residue,ss --model window -o aligner.model
  maxmargin predict aligner.model new.fasta -o aligned.fasta

Files may be compressed with gzip. For their formats see docs/alignment.md."""
    file = "PAIRS"
    items = "pairs"
    estimators = {"svm": "SequenceAligner"}
    hidden = frozenset({"alphabet", "groups"})
    usual = (1.0, 10.0, 100.0, 1000.0)
    essential = "format tracks unknown model gaps scope"
    options = """
    the file
      --format auto|table|fasta|stockholm=auto  default: recognised by its beginning
      --rows pairs|all=pairs  FASTA: records 1 and 2, 3 and 4, ... are aligned (default),
          or all with all
      --tracks NAME,...=residue  what is known about a position: residue (default), or
          residue,ss and others that the file has
      --all-columns  count all pairs, even those that the file does not mark as core
      --unknown LETTER  read letters that are not in the training file as this one, such
          as X
      --encoding NAME=utf-8  default: utf-8
    the model
      --model  simple, anova2, tensor, sum, window
      --gaps  affine, linear or position
      --scope  global or local
      --free-ends  target or template: its ends may stay unmatched at no cost
      --loss  q, q4 (or another shift), hamming
      --symmetric  one weight for (a, b) and (b, a); default: if alphabets allow it
      --prior  start from BLOSUM62, or other usual scores of letters and gaps
      --C
    """
    outputs = {
        "fasta": Output((".fasta", ".fa", ".fas", ".faa", ".afa"), marginals=False),
        "stockholm": Output((".sto", ".stk", ".stockholm"), k_best=False),
        "clustal": Output((".aln", ".clustal", ".clw"), k_best=False, marginals=False),
        "tsv": Output((".tsv",), k_best=False, marginals=False),
    }
    predict_options = K_BEST + MARGINALS


COMMAND = AlignTask
