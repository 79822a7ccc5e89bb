"""How numba compiles our kernels: as ever, less what it would do in vain.

A first fit waits for the compiler, whose time goes by the number of functions and of
their instructions.

* Functions of numba's own, such as ``np.empty``, are compiled anew for every kernel whose
  options differ, also in options that they do not inherit. Here they see equal ones.
* A function that makes no array counts no references: its caller keeps arrays alive.
  That counting is a part of every ``planes.alpha[i, p]``, and removed by LLVM at last.
* Passes that look for closures and for sums of arrays are left out where there are none.
"""

from __future__ import annotations

import types

from numba.core import ir
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.errors import NumbaRuntimeError
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonRewrites
from numba.core.types import Dispatcher, Integer, SliceType
from numba.core.untyped_passes import InlineClosureLikes

OWN = ("no_cpython_wrapper", "no_cfunc_wrapper", "forceinline", "release_gil")
VIEWS = ("getattr", "static_getitem", "build_tuple", "cast", "phi", "getiter")


_compiling = 0  # kernels, one within the other; numba has a lock around them


def compiling() -> bool:
    """Whether it is for one of our kernels that numba works."""
    return _compiling > 0


class Pipeline(Compiler):
    """For all kernels and the functions that they call."""

    counting = False  # of references, wherever numba would

    def __init__(self, *given):
        super().__init__(*given)
        self._given = given

    def compile_extra(self, func):
        try:
            return super().compile_extra(func)
        except NumbaRuntimeError:  # something needs memory where none was expected
            if self.counting:
                raise
            again = type(self)(*self._given)
            again.counting = True
            return again.compile_extra(func)

    def _compile_core(self):
        global _compiling
        _compiling += 1
        try:
            return super()._compile_core()
        finally:
            _compiling -= 1

    def define_pipelines(self):
        inherited = ConfigStack.top_or_none()  # a copy, for what this function calls
        for name in OWN:
            inherited.discard(name)
        pipelines = super().define_pipelines()
        code = self.state.func_id.code
        closures = any(isinstance(c, types.CodeType) for c in code.co_consts)
        for pipeline in pipelines:
            pipeline.passes = [
                (Rewrites if step is NopythonRewrites else step, name)
                for step, name in pipeline.passes
                if closures or step is not InlineClosureLikes
            ]
            pipeline.finalize()
        return pipelines


@register_pass(mutates_CFG=True, analysis_only=False)
class Rewrites(NopythonRewrites):
    """Those of sums of arrays, or no counting of references where there are no new ones."""

    _name = "maxmargin_rewrites"

    def run_pass(self, state):
        if state.pipeline.counting or _makes_arrays(state):
            return super().run_pass(state)
        ours = state.func_id.modname.partition(".")[0] == __name__.partition(".")[0]
        if ours and state.flags.no_cpython_wrapper:  # no objects of Python are made
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            state.targetctx.__dict__.pop("nrt", None)
        return False


def _makes_arrays(state) -> bool:
    """Whether something may be made here that references are counted of.

    To set a slice may copy, and what numba brings may need memory.
    """
    models, types_of = state.targetctx.data_model_manager, state.typemap

    def counted(name):
        return models[types_of[name]].contains_nrt_meminfo()

    def makes(statement):
        if isinstance(statement, ir.SetItem):
            return counted(statement.value.name) or not _is_place(
                types_of[statement.index.name]
            )
        if not isinstance(statement, ir.Assign):
            return False
        value = statement.value
        if isinstance(value, ir.Expr) and value.op == "call":
            called = types_of[value.func.name]
            inside = isinstance(called, Dispatcher)
            inside = inside or getattr(called, "typing_key", None) is len
            given = any(counted(v.name) for v in value.list_vars()[1:])
            return counted(statement.target.name) or not (inside or not given)
        return counted(statement.target.name) and not _is_view(value, types_of)

    return models[state.return_type].contains_nrt_meminfo() or any(
        makes(statement)
        for block in state.func_ir.blocks.values()
        for statement in block.body
    )


def _is_view(value, types_of) -> bool:
    if not isinstance(value, ir.Expr):  # an argument, a variable or a constant
        return not isinstance(value, ir.Yield)
    if value.op == "getitem":
        return _is_place(types_of[value.index.name], SliceType)
    return value.op in VIEWS


def _is_place(index, *others) -> bool:
    parts = getattr(index, "types", [index])
    return all(isinstance(t, (Integer, *others)) for t in parts)
