"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def align():
    from maxmargin import SequenceAligner

    X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
    y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
    return SequenceAligner().fit(X, y), X


def homologs():
    from maxmargin import HomologFinder
    from maxmargin.alignments.homologs.invented import make_homologs

    X, y = make_homologs(5, random_state=0)
    return HomologFinder(tol=0.3).fit(X, y), X  # a thousand passes fewer
