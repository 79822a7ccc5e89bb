"""The rules of a parser as texts, with what it thinks of them."""

from __future__ import annotations

from typing import Any


def named_rules(model: Any) -> list[tuple[str, float]]:
    """(rule, weight or logarithm of its probability), the best first."""
    grammar = model.grammar_
    if hasattr(model, "coef_"):
        weights = model.coef_
    else:
        logs = grammar.log_probabilities(model.smoothing)
        weights = [*logs.binary, *logs.unary]
    rules = zip(grammar.rule_names(), map(float, weights), strict=False)
    return sorted(rules, key=lambda rule: -rule[1])
