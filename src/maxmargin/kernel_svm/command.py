"""The task ``kernel``: vectors into classes, by a machine with a kernel."""

from maxmargin.cli.task import Output, Task


class KernelTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "kernel"
    about = "Classify vectors, one per line, with a kernel and few basis functions."
    example = """example:
  maxmargin train kernel train.svm --C 10 --components 200 -o digits.model
  maxmargin train kernel fish.csv --label kind --kernel poly --degree 2 -o fish.model
  maxmargin train kernel fish.csv --scale standard --gamma choose --cv 5 -o m.model
  maxmargin train kernel train.csv --gamma 0.02 --path 1,10,100 --cv 5 -o m.model

Lines are LABEL 3:0.5 7:1 ... (svmlight), or rows of a table with commas whose last column
is the class (csv); see docs/kernels.md. Files may be compressed with gzip."""
    estimators = {"svm": "KernelSVM"}
    hidden = frozenset({"taxonomy", "loss"})
    usual = (0.1, 1.0, 10.0, 100.0, 1000.0)
    essential = "format label kernel gamma method n_components"
    options = """
    the file
      --format auto|svmlight|csv=auto  svmlight: LABEL 3:0.5 7:1 ...; csv: 0.5,0,1,LABEL
          (default: csv if the name ends in .csv, else svmlight)
      --label NAME  the column of classes of a csv file (default: the last)
      --header auto|yes|no=auto  whether the first row of a csv file has names (default:
          if no cell except perhaps the last is a number)
      --encoding NAME=utf-8  default: utf-8
    the kernel
      --kernel rbf|poly|linear|laplace  k(x, x')
      --gamma X,scale,auto  width of rbf and laplace, factor of poly (default: scale, one
          over columns times variance). Several values with commas, or choose for
          multiples of scale: the best is chosen with C, by --cv or --dev
      --scale standard|range  scale columns to mean 0 and deviation 1, or to [0, 1]; kept
          in the model (default: no scaling)
      --degree  degree of poly
      --coef0  constant of poly
    the basis
      --method  how basis functions are found: subspace-pursuit, training-points,
          nystroem, nystroem-kmeans, nystroem-leverage, incomplete-cholesky, sampling,
          exact
      --n_components  largest number of basis functions; at most one per sample
      --preimage gradient  how subspace-pursuit finds points (default: gradient)
    the model
      --C
      --class-weight balanced  the same mass for every class
      --device  cpu or cuda
      --memory  bytes for tables of kernel values
      --max-terms  prove nothing about the exact machine beyond this many support vectors
    """
    outputs = {"labels": Output()}
    evaluate_options = "--confusion FILE.png  draw which labels are confused"
    inspect_options = """
    --label L+  only this label; repeatable
    --shape HxW  draw basis points as pictures of this shape (default: if they are square)
    """


COMMAND = KernelTask
