"""Classes by kernels: few basis functions, found while training, or all of them."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"KernelSVM": "estimator"},
    models=("KernelSVM.v1",),
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
