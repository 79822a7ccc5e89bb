"""Functions that are only linked into others: no machine code of their own.

numba optimises every function and makes machine code of it, also of those that only other
kernels call. These get a copy of it, which is optimised again with all that is around it,
so the work before was for nothing. With :class:`Linking` as its pipeline, a function is
kept as numba lowered it, and the kernels that are called from Python or by address are
optimised once, as a whole.
"""

from __future__ import annotations

import functools

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.typing.templates import _OverloadFunctionTemplate

from maxmargin.core.compile.pipeline import Pipeline, compiling

LINKED = "linked"  # how their modules are marked on disk


class LinkedLibrary(JITCodeLibrary):
    """The module of a function, for linking alone."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:  # numba prepares passes for those as well
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return _Codegen(self._codegen)

    def serialize_using_object_code(self):
        """What is kept on disk, in place of object code."""
        self._ensure_finalized()
        return self.name, LINKED, self._get_module_for_linking().as_bitcode()


class Linking(Pipeline):
    """The same, with a library of this kind."""

    def compile_extra(self, func):
        state = self.state
        state.library = LinkedLibrary(state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def _or_linked(build):
    """numba's own functions, such as np.empty: linked too, where our kernels need them."""

    @functools.wraps(build)
    def choose(template, *args):
        source = template._overload_func.__module__ or ""
        if compiling() and source.startswith(("numba.np.", "numba.cpython.")):
            options = {**template._jit_options, "pipeline_class": Linking}
            template._jit_options = options
        return build(template, *args)

    return choose


_OverloadFunctionTemplate._build_impl = _or_linked(
    _OverloadFunctionTemplate._build_impl
)


class _Codegen:
    """numba's, but what has no machine code has no place for its environment either."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        pass

    def unserialize_library(self, serialized):
        name, _kind, bitcode = serialized
        library = LinkedLibrary(self._codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _Context:
    """numba's target context with this code generator."""

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def codegen(self):
        return _Codegen(self._context.codegen())


def rebuilt(context, payload) -> CompileResult:
    """A function from what `CompileResult._reduce` made of it, of either kind."""
    if payload[0][1] != LINKED:
        return CompileResult._rebuild(context, *payload)
    result = CompileResult._rebuild(_Context(context), *payload)
    return result._replace(target_context=context)
