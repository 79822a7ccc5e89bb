"""Machine code for a GPU is made without one: what the interpreter lets pass is found.

Run as a script, in a process where Triton does not interpret, it compiles every kernel.
"""

import os
import subprocess
import sys

import pytest

TYPES = {
    "start": "*i64",
    "lengths": "*i64",
    "labels": "*i64",
    "both": "*fp64",
    "scale": "*fp64",
    "far": "*i8",
    **dict.fromkeys(["examples", "ranks", "width", "N", "cells"], "i32"),
}


def chain_kernels():
    """(kernel, constants, warps, types of their own) as the calls choose them."""
    from maxmargin.torch.triton import chain_counts, chain_far, chain_sums, chain_wide

    bf16 = {"emissions": "*bf16"}
    for n, p, warps, types in ((9, 16, 1, {}), (50, 64, 4, {}), (50, 64, 4, bf16)):
        yield chain_sums.sums_few, {"K": n, "P": p}, warps, types
    dot = {"PRECISION": "tf32x3"}
    for n, p, c in ((100, 128, 128), (200, 256, 32)):
        wide = {"K": n, "P": p, "M": 16, "C": c, **dot}
        yield chain_wide.sums_many, wide, 8, {}
    for n, p, c in ((9, 16, 16), (200, 256, 4)):
        for given in (True, False):
            far = {"K": n, "P": p, "C": c, "LABELS": given}
            yield chain_far.finish, {**far, "R": 128}, 4, {}
            yield chain_far.expected_far, far, 4, {"room": "*fp64"}
    few = {"K": 50, "P": 64, "R": 32, "LABELS": True, **dot}
    yield chain_counts.counts_few, few, 8, {"marginals": "*bf16", **bf16}
    many = {"K": 200, "P": 256, "R": 16, "LABELS": True}
    yield chain_counts.marginals_many, many, 4, {}
    pairs = {"K": 200, "S": 64, "R": 32, "LABELS": True, **dot}
    yield chain_counts.pairs_many, pairs, 8, {}


def search_kernels():
    from maxmargin.torch.triton import k_best, viterbi

    for n, p, c, warps in ((9, 16, 16, 1), (100, 128, 128, 8), (300, 512, 8, 8)):
        size = {"K": n, "P": p, "C": c}
        back = "*u8" if n < 257 else "*i16"
        types = {"labels": "*i32", "back": back}
        yield viterbi.best_labels, size, warps, types
        size = {**size, "C": min(p, 4096 // p), "Q": 4}
        yield k_best.best_lists, size, warps, {"labels": "*i32", "back": "*i32"}


def chart_kernels():
    from maxmargin.torch.triton import chart_sums as charts

    size = {"A": 30, "S": 60, "P": 64}
    for name in ("inside_width", "rules_width", "children_width"):
        yield getattr(charts, name), {**size, "SPANS": True}, 8, {}
    yield charts.inside_width, {**size, "SPANS": False}, 8, {}
    yield charts.inside_top, size, 8, {}
    yield charts.outside_top, size, 8, {}
    yield charts.splits_width, {"S": 60, "P": 64}, 8, {}


def compile_all():
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    count = 0
    for kernels in (chain_kernels, search_kernels, chart_kernels):
        for kernel, constants, warps, types in kernels():
            named = {**dict.fromkeys(kernel.arg_names, "*fp32"), **TYPES, **types}
            named |= dict.fromkeys(constants, "constexpr")
            for name, there in (("labels", "LABELS"), ("spans", "SPANS")):
                if not constants.get(there, True):
                    constants[name], named[name] = None, "constexpr"
            signature = {name: named[name] for name in kernel.arg_names}
            made = triton.compile(
                ASTSource(kernel, signature, constants),
                target=GPUTarget("cuda", 90, 32),
                options={"num_warps": warps},
            )
            assert made.asm["cubin"]
            assert made.metadata.shared <= 227 * 1024
            count += 1
            print(kernel.__name__, constants, warps, made.metadata.shared)
    print(count, "kernels")


def test_all_kernels_compile_for_a_gpu(tmp_path):
    pytest.importorskip("torch")
    from triton_cases import triton

    if "nvidia" not in triton.backends.backends:
        pytest.skip("this build of Triton compiles for no GPU of this kind")
    place = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    place.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, env=place
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "29 kernels"


if __name__ == "__main__":
    compile_all()
