"""KernelSVM: classes by nonlinear kernels, with few basis functions or with all."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from maxmargin.classes.probabilities import ClassProbabilities
from maxmargin.classes.report import ClassReport, class_report
from maxmargin.classes.view import classes
from maxmargin.core.encoded import Encoded
from maxmargin.core.listed import given_or
from maxmargin.core.warn import warn
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.path import path
from maxmargin.fitting.tables import one_row
from maxmargin.kernel_svm.devices import find_device
from maxmargin.kernel_svm.input import own, read_input, read_training
from maxmargin.kernel_svm.parameters import KernelSVMParameters
from maxmargin.kernel_svm.saving import model_from, state_of
from maxmargin.kernel_svm.training import machines
from maxmargin.kernels.basis import expand
from maxmargin.kernels.nested import NestedKernel
from maxmargin.metrics.scorers import accuracy
from maxmargin.solvers.result import still_zero
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class KernelSVM(
    KernelSVMParameters,
    ClassProbabilities,
    ClassifierMixin,
    NestedKernel,
    MaxMarginEstimator,
    init=False,
):
    """Support vector machine with a kernel, for two classes, many, or a taxonomy of them.

    The score of class k is f_k(x) = sum_j beta_jk kernel(b_j, x) over basis points b_j, and
    training minimises ``1/2 sum_k |f_k|^2 + C sum_i s_i max_k [loss(y_i, k) + f_k(x_i) -
    f_(y_i)(x_i)]``. There is no intercept: give ``kernel + 1`` for one. For two classes C
    is halved, so that it means what it does in scikit-learn's SVC: then f_1 = -f_0, and the
    objective, with it the certificate, is half of SVC's ``1/2 |f|^2 + C sum_i s_i max(0,
    1 - y_i f(x_i))`` of f = f_1 - f_0, the ``decision_function``.

    When ``max_time`` is over, or after Ctrl-C, the machine is the best found so far; of a
    pursuit, that of its last stage, whose basis may be smaller than asked for. Held-out
    data choose C (``dev`` and ``Cs`` of :meth:`fit`); they do not end training early.

    Parameters
    ----------
    kernel : "rbf", "poly", "linear", "laplace", "precomputed", a kernel or a function
        See :mod:`maxmargin.kernels`, ``docs/kernels.md``.
    method : how the basis is found
        * "auto" (default): "exact" for up to 20,000 samples, unless ``n_components`` is
          given; else "subspace-pursuit", or "training-points" if the kernel is not smooth
          or the inputs are sparse with more than 1,000 columns. ``method_`` says which
          was used.
        * "subspace-pursuit": points that lie anywhere, found while training; for smooth
          kernels of vectors. Others use "training-points".
        * "training-points": the same, out of the training points.
        * "nystroem", "nystroem-kmeans", "nystroem-leverage", "incomplete-cholesky": chosen
          before training, without looking at y.
        * "sampling": cutting planes made of samples of ``n_components`` violated
          examples; there are as many basis points as these cuts have together.
        * "exact": all training points, without those whose coefficients are zero. Rows of
          the kernel matrix are cached up to ``memory``, and otherwise computed again.
    n_components : int or None
        Largest number of basis points; more than there are training samples are refused.
        None, the default, is 500, or all samples if there are fewer.
    C : float or None, default 5.0
        None is 5 too. No other C has a better mean over 18 data sets with the Gaussian
        kernel and ``gamma="scale"`` (``benchmarks/kernel_C.py``).
    gamma, degree, coef0
        As in scikit-learn's SVC, for kernels given by name: gamma for "rbf", "poly" and
        "laplace", the others for "poly"; other names ignore them. With a kernel object or
        a function they are refused. Parameters of a kernel object are set as
        ``kernel__gamma`` (``docs/kernels.md``).
    scale : "standard", "range" or None, default None
        Columns of tables are shifted and divided before the kernel sees them, in the same
        way for training and prediction: "standard" to mean 0 and standard deviation 1,
        "range" to [0, 1] in the training data. Sparse columns are divided only: by the root
        of their mean square, or by their largest absolute value.
    loss : "zero-one", dict, array or function, default "zero-one"
        As in :class:`maxmargin.MulticlassSVM`; with a taxonomy "zero-one" or "tree".
    taxonomy : Taxonomy, dict, list or None
        As in :class:`maxmargin.TaxonomySVM`: classes share functions of their ancestors.
    class_weight : dict, "balanced" or None
        Factors for the sample weights.
    preimage : "gradient"
        How "subspace-pursuit" finds points: there is only one way, whose name files keep.
    memory : float, default 4e9
        Bytes that training may use for tables of kernel values; a fit that needs more
        raises an error before it begins.
    max_terms : int, default 20,000
        The certificate of the exact machine needs the kernel between all support vectors;
        with more support vectors than this, it is omitted.
    device : "cpu" or "cuda"
        Where the products of "subspace-pursuit" and of prediction are computed.
    tol, max_iter, max_time, n_jobs, random_state, verbose, callbacks
        As in :class:`maxmargin.StructuralSVM`; ``max_time`` is for all of a fit, the search
        for the basis included, ``max_iter`` for each training in it, and ``verbose`` shows
        a line per stage of a pursuit. ``n_jobs`` threads compute rows and scores of
        "exact"; two take the steps of "subspace-pursuit" with a Gaussian kernel; of
        "sampling" it is how many threads of BLAS its products have. Other methods have
        one. What "exact" finds differs from ``n_jobs=1`` by the rounding of BLAS at most;
        points of a pursuit by what rounding becomes in thousands of steps.

    checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`, of :meth:`fit`. "exact" keeps its dual
        variables, and goes on to the same certificate; other methods find their basis
        again, and keep the training on it. "sampling" has none (``docs/scaling.md``).

    Attributes
    ----------
    classes_ : ndarray
    kernel_ : the kernel, its gamma a number
    basis_ : the points, of shape (k, features) or a list, in the units of X
    scaling_ : Scaling or None
        ``center`` and ``width`` of every column, where ``scale`` is given: the kernel
        sees (x - center) / width.
    dual_coef_ : ndarray of shape (k, classes), beta
    method_ : str
        The method that was used.
    certificate_ : KernelCertificate
    seconds_ : float
        How long training took, or a path until this model was done.
    history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import KernelSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelSVM(C=10, n_components=50).fit(X[:1000] / 16, y[:1000])
    >>> model.score(X[1000:] / 16, y[1000:]) > 0.93
    True
    >>> len(model.basis_) <= 50
    True

    References
    ----------
    Yu (2011), Improved learning of structural support vector machines, chapter 6.
    Joachims & Yu (2009), Sparse kernel SVMs via cutting-plane training.
    """

    _model_name = "KernelSVM.v1"
    _scorers = (accuracy,)
    _compares_labels = True
    _left = (*MaxMarginEstimator._left, "n_features_in_")
    _params_in_state = ("kernel", "memory", "device")

    # parameters that other estimators have
    rescaling, penalty, solver, warm_start = "margin", "linear", "auto", False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        kind = getattr(self.kernel, "kind", self.kernel)
        tags.input_tags.pairwise = kind == "precomputed"
        return tags

    # training ---------------------------------------------------------------------------

    _machines = machines

    def path(
        self,
        X: Any,
        y: Any,
        Cs: Iterable[float] | None = None,
        n_components: Iterable[int] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> list:
        """Models for every C of ``Cs``, or for every size of ``n_components``, in one run.

        Along C the basis is the one that training finds at ``self.C``, and each machine
        starts from the last. Along sizes the basis grows: a larger one begins with what
        the smaller one has found. ``max_time`` is for all of them together: sizes that it
        does not reach have the machine of the last one that it did. Ctrl-C ends the run
        with the best machine so far, and leaves out the values after it.
        """
        if (Cs is None) == (n_components is None):
            raise ValueError("Give path either Cs or n_components, a list of values.")
        if Cs is not None:
            return path(self, X, y, sample_weight, Cs)
        return path(self, X, y, sample_weight, n_components, name="n_components")

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Encoded:
        return read_training(self, X, y, sample_weight)

    def _blas_threads(self) -> int:
        """Several only for "sampling": products of other methods are short, and several
        threads of BLAS made them slower (``benchmarks/scaling.py --groups kernels``)."""
        return self._threads() if self.method == "sampling" else 1

    def _check(self) -> None:
        if isinstance(self.C, numbers.Real) and math.inf == self.C:
            raise ValueError("C=inf is not possible with kernels: choose a finite C.")
        find_device(self.device)

    def _install(self, encoded: Encoded, w: np.ndarray) -> None:
        """Coefficients of the points of a machine; flat, those of the first sample."""
        self.dual_coef_, self.kernel_ = np.atleast_2d(w), encoded.batch.kernel
        if w.ndim == 1:
            self._stand_on(encoded.batch.samples(np.zeros(1, np.int64)), encoded)

    def _stand_on(self, points: Any, encoded: Encoded) -> None:
        problem, scaling = encoded.batch, encoded.attributes["scaling_"]
        self.columns_ = np.asarray(points) if problem.given else None
        points = own(points, problem.X)
        self.basis_ = points if scaling is None else scaling.undo(points)

    def _installed(self, encoded: Encoded, solution: Any, objective: Any) -> None:
        self._stand_on(solution.points, encoded)
        self.method_, self.seconds_ = solution.method, solution.seconds
        if solution.warning:
            warn(solution.warning + still_zero(solution.w), ConvergenceWarning)

    # using ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (samples, classes); predict takes the largest.

        With two classes, one number per sample, as everywhere in scikit-learn.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, the first one on ties."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """What is predicted for the sample x, and the scores of the strongest classes.

        With the true class y, whether that is right. ``options`` go to
        :func:`maxmargin.views.classes`.
        """
        scores = self._scores(one_row(x))[0]
        found = self.classes_[int(scores.argmax())]
        return classes(scores, self.classes_, found, y, **options)

    def evaluate(self, X: Any, y: Any, *, predicted: Any = None) -> ClassReport:
        """Accuracy and the scores of every class.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        return class_report(y, given_or(predicted, lambda: self.predict(X)))

    def _scores(self, X) -> np.ndarray:
        check_is_fitted(self, "dual_coef_")
        X, points = self._compared(X)
        if points is None:
            return np.asarray(X @ self.dual_coef_)
        device = find_device(self.device)
        return expand(self.kernel_, X, points, self.dual_coef_, device)

    def _compared(self, X: Any) -> tuple[Any, Any]:
        """Samples and basis points as the kernel sees them; where its table is given, the
        columns of the basis, and None."""
        X = read_input(self, X)
        if self.columns_ is not None:
            return X[:, self.columns_], None
        if self.scaling_ is None:
            return X, self.basis_
        return self.scaling_.apply(X), self.scaling_.apply(self.basis_)

    # saving (model_file.py) -------------------------------------------------------------

    def _get_state(self):
        return state_of(self)

    @classmethod
    def _from_state(cls, params, arrays, state):
        return model_from(cls, params, arrays, state)

    @property
    def n_support_points(self) -> int:
        """How many kernel values a prediction takes."""
        check_is_fitted(self, "dual_coef_")
        return len(self.dual_coef_)
