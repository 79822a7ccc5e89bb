"""Sources as trees."""

import ast


def parsed(text: str) -> ast.Module:
    """What ``ast.parse`` says; CPython before 3.11.10 may fail at it once, at random.

    "AST constructor recursion depth mismatch": Python code that runs meanwhile, in
    destructors or in another thread, parsed something too.
    """
    try:
        return ast.parse(text)
    except SystemError:
        return ast.parse(text)
