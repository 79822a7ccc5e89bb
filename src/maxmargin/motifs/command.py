"""The task ``motif``: sequences of DNA with a motif against those without."""

from maxmargin.cli.task import Output, Task


class FindMotifTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "motif"
    about = "Find the motif of DNA sequences, and predict which have it and where."
    example = """example:
  maxmargin train motif positive.fa --negative negative.fa -o motif.model
  maxmargin train motif all.fa --label type --positive ARS --background rest.fa -o m
  maxmargin predict motif.model new.fa -o sites.bed
  maxmargin inspect motif.model --plot logo.png --export motif.meme

Files are FASTA, also compressed with gzip; see docs/motifs.md."""
    items = "sequences"
    estimators = {"svm": "MotifFinder"}
    hidden = frozenset({"objective"})
    essential = "negative label positive background width both_strands"
    options = """
    the files
      --negative FILE  sequences without the motif; then TRAIN holds those with it
      --label KEY=label  without --negative: a record has KEY=VALUE after its name
          (default: label)
      --positive VALUE  the value of sequences with the motif (default: one such as 1, +1,
          true, positive, or the clearly rarer one of two values)
      --background FILE  more sequences without the motif, with a small weight each
      --background-weight X=0.02  that weight (default: 0.02)
      --encoding NAME=utf-8  default: utf-8
    the model
      --width N,N,...  letters of the motif; of several widths, the best on a fifth of the
          sequences is chosen (default: 11)
      --order  number of letters that a background letter depends on
      --both-strands  whether sites may be on the reverse strand, too (default: if reverse
          complements of the best words are enriched)
      --composition  also score words of the whole sequence, not only the best site
      --unknown refuse|skip  what to do with letters such as N (default: refuse)
      --C  weight of the data (default: 16 divided by the number of sequences)
      --class-weight balanced|none  whether files with the motif and without it weigh the
          same (default: balanced, without --background)
      --init random|words  start with sites anywhere, or at words that are more frequent in
          sequences with the motif (default: words)
      --n-restarts  number of starts; the best is kept
      --shifts  letters by which the motif is shifted after training, to train further
      --max-outer  completions of the sites in one start
      --self-paced  easy sequences first
    """
    outputs = {"bed": Output((".bed",)), "gff3": Output((".gff3", ".gff"))}


COMMAND = FindMotifTask
