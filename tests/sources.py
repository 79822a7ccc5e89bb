"""Sources as trees."""

import ast
from collections.abc import Callable
from typing import Any


def parsing(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a call returns that parses; CPython before 3.11.10 may fail once, at random.

    "AST constructor recursion depth mismatch": Python code that runs meanwhile, in
    destructors or in another thread, parsed something too.
    """
    try:
        return call(*arguments, **options)
    except SystemError:
        return call(*arguments, **options)


def parsed(text: str) -> ast.Module:
    """A source as a tree."""
    return parsing(ast.parse, text)
