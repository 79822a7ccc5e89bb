"""Tensors of torch, where it is installed: the numbers of numpy, and its gradients."""

import numpy as np
import pytest

from maxmargin import kernels
from maxmargin.kernels import laplace, linear, normalized, polynomial, rbf

torch = pytest.importorskip("torch")

FORMULAS = [
    linear(),
    polynomial(3, 0.5),
    rbf(0.5),
    laplace(0.5),
    2 * rbf() + linear() * laplace() + 1,
    kernels.exp(normalized(polynomial(2, 0.3))) ** 3,
    rbf().of([0, 2]) * linear().of(slice(1, 3)),
    rbf("scale"),
]


@pytest.mark.parametrize("k", FORMULAS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors(k, dtype):
    rng = np.random.default_rng(0)
    X, B, C = (
        torch.tensor(rng.normal(size=s), dtype=dtype) for s in ((9, 3), (4, 3), (9, 4))
    )
    if torch.cuda.is_available():
        X, B, C = X.cuda(), B.cuda(), C.cuda()
    tolerance = (
        {"rtol": 1e-3, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 1e-9}
    )
    x, b, c = (
        X.cpu().double().numpy(),
        B.cpu().double().numpy(),
        C.cpu().double().numpy(),
    )
    again, k = k.fitted(x), k.fitted(X)
    assert getattr(again, "gamma", 0) == pytest.approx(getattr(k, "gamma", 0))
    for result, truth in [
        (k(X, B), k(x, b)),
        (k(X), k(x)),
        (k(X, b), k(x, b)),
        (k.diagonal(X), k.diagonal(x)),
        (k.gradient(X, B, C), k.gradient(x, b, c)),
    ]:
        assert result.device == X.device
        np.testing.assert_allclose(result.cpu().numpy(), truth, **tolerance)
    assert k(X, B).dtype == dtype
    kernels.check(k, X)
    B.requires_grad_()
    (k(X, B) * C).sum().backward()
    gradient = B.grad.cpu().numpy()
    np.testing.assert_allclose(gradient, k.gradient(x, b, c), **tolerance)


def test_near_tensors():
    X = 100 + torch.randn(50, 8)
    K = rbf(10.0)(X, X.clone())
    assert float(K.max()) <= 1
    np.testing.assert_allclose(K.diagonal().numpy(), 1, atol=1e-6)


def test_messages():
    with pytest.raises(ValueError, match="row 1, column 0"):
        rbf()(torch.tensor([[0.0], [float("nan")]]))
    with pytest.raises(ValueError, match="2-d"):
        rbf()(torch.zeros(3))
