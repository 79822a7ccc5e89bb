"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin
from maxmargin.alignments.homologs.invented import make_homologs


def align():
    X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
    y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
    return maxmargin.SequenceAligner().fit(X, y), X


def homologs():
    X, y = make_homologs(5, random_state=0)
    return maxmargin.HomologFinder(tol=0.3).fit(X, y), X  # a thousand passes fewer
