"""What is proved about a kernel machine that uses a few basis functions.

Within the span of the basis, training has a primal and a dual point. The function found is
a function of the whole space, so its primal is that of the exact kernel machine as well.
The dual point alpha is feasible there too; only its value is smaller, by half of what the
span does not hold of v = sum_i a_i phi(x_i):

    dual of the exact machine >= linear(alpha) - 1/2 |v|^2
                               = dual within the span - 1/2 |v - P v|^2.

So primal minus that bounds the distance to the optimum of the exact machine, whose
functions have a term for every training point. (Theorem 6.4 of Yu's thesis bounds it by
the residuals of single cuts; this is the residual of the cut that training ended with,
and never larger.)

With two classes f_1 = -f_0, and f = f_1 - f_0 is the one function of scikit-learn's SVC.
All numbers here are then exactly half of those of its objective without an intercept,

    1/2 |f|^2 + sum_i C_i max(0, 1 - y_i f(x_i)),    y_i = -1 or 1,

since |f_0|^2 + |f_1|^2 = |f|^2 / 2, and masses C_i / 2 go with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from maxmargin.solvers.result import Certificate


@dataclass(frozen=True)
class KernelCertificate(Certificate):
    """``dual`` bounds the exact kernel machine; ``within`` is that of the span alone.

    ``residual`` is |v - P v|. Where v has too many terms to be measured (more than
    ``max_terms`` of the estimator), ``dual`` and ``within`` are those of the span, the
    residual is nan and ``exact`` is False: then nothing is proved about the exact machine.
    Of sampled cuts, ``within`` is ``dual``. See ``proofs.py`` for how they are computed.
    """

    within: float = 0.0
    residual: float = 0.0

    @property
    def relative_gap_within(self) -> float:
        """How well training solved the problem within the span."""
        return max(self.primal - self.within, 0.0) / self.primal if self.primal else 0.0
