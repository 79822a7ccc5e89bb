"""Classes by kernels: few basis functions, found while training, or all of them."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"KernelSVM": "estimator"},
    models=("KernelSVM.v1",),
    commands={"kernel": "command"},
    warmups={"kernel": "warmup"},
    files={"read_csv": "csv_file"},
    plots={
        "plot_accuracy_by_size": "plots",
        "plot_basis_images": "pictures",
        "plot_boundary": "plots",
    },
    explains={"KernelSVM": "explaining"},
    reports={"KernelSVM": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
