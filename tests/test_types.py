"""What type checkers and editors see of the library."""

import ast
import importlib
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from public_modules import PACKAGES
from sources import parsed

import maxmargin
from maxmargin import kernels, scorers

PROGRAM = """
    import maxmargin
    from maxmargin import MulticlassSVM, Problem, StructuralSVM, TaxonomySVM, kernels

    reveal_type(maxmargin.SequenceTagger)
    reveal_type(maxmargin.LatentStructuralSVM)
    reveal_type(MulticlassSVM().predict([[0.0]]))
    reveal_type(kernels.rbf(0.5))

    maxmargin.SequenceTagger(10.0, "log", tol=0.001).fit([], [])
    StructuralSVM(Problem(), 2.0, n_jobs=2)
    TaxonomySVM({"a": None}, 1.0, mode="flat")
    MulticlassSVM(D=1)
    MulticlassSVM(1.0, "zero-one", False)
    maxmargin.HMMTagger(C=1.0)
    maxmargin.SequenceTager
"""
SEEN = [
    'Revealed type is "def (C: float | None =, objective: str =, *, ',
    'Revealed type is "def (problem: Any, init: Any =, *, ',
    "numpy.ndarray",
    'Revealed type is "maxmargin.kernels.base.Kernel"',
]
WRONG = [
    'Unexpected keyword argument "D" for "MulticlassSVM"',
    'Too many positional arguments for "MulticlassSVM"',
    'Unexpected keyword argument "C" for "HMMTagger"',
    'Module has no attribute "SequenceTager"',
]


@pytest.mark.slow
def test_a_program_of_a_user_is_checked(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {Path(maxmargin.__file__).parents[1]}\n"
        "follow_imports = silent\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    *lines, summary = done.stdout.splitlines()
    errors = [line for line in lines if ": error: " in line]
    notes = [line for line in lines if "Revealed type" in line]
    assert len(errors) == len(WRONG), done.stdout
    assert summary.startswith(f"Found {len(WRONG)} errors in 1 file")
    for line, said in zip(errors + notes, WRONG + SEEN, strict=True):
        assert said in line


PLACES = [maxmargin, kernels, scorers]


@pytest.mark.parametrize("package", PLACES, ids=lambda p: p.__name__)
def test_checkers_see_the_names_that_there_are(package):
    """The imports for type checkers are those of the table."""
    tree = parsed(Path(package.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    (block,) = [b for b in blocks if ast.unparse(b.test) == "TYPE_CHECKING"]
    seen = {}
    for line in block.body:
        for name in line.names:
            assert name.name == name.asname
            own = line.module == package.__name__  # a module of it
            seen[name.name] = f"{line.module}.{name.name}" if own else line.module
    assert seen == package._WHERE


def functions_of(thing):
    """Public functions and methods: (name, function)."""
    if inspect.isfunction(thing):
        yield thing.__qualname__, thing
    if not inspect.isclass(thing):
        return
    for name in dir(thing):
        found = inspect.getattr_static(thing, name)
        found = getattr(found, "fget", getattr(found, "__func__", found))
        if name.startswith("_") or not inspect.isfunction(found):
            continue
        if found.__module__.startswith("maxmargin"):
            yield f"{thing.__name__}.{name}", found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_functions_say_what_they_take_and_return(package):
    bare = set()
    for module, name in [(m, n) for n, m in package._WHERE.items()]:
        thing = getattr(importlib.import_module(module), name, None)
        for said, function in functions_of(thing):
            signature = inspect.signature(function)
            taken = [
                p for n, p in signature.parameters.items() if n not in {"self", "cls"}
            ]
            if signature.return_annotation is signature.empty or any(
                p.annotation is p.empty for p in taken
            ):
                bare.add(said)
    assert bare == set()


def test_the_package_says_that_it_is_typed():
    assert (Path(maxmargin.__file__).parent / "py.typed").exists()
