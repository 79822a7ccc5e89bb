"""Know how good a fit is, and stop when it is good enough.

During training, two numbers approach each other: an objective that has been reached
(primal), and a bound below which no weights can get (dual). Their relative difference is
the gap, and ``tol`` is the gap at which to stop.

A smaller gap takes more passes. Whether the model then predicts better is another question:
here a gap of a tenth does as well as one of a thousandth.
"""

from sklearn.datasets import load_digits

from maxmargin import MulticlassSVM, plots

X, y = load_digits(return_X_y=True)
X_train, y_train, X_test, y_test = X[:1000] / 16, y[:1000], X[1000:] / 16, y[1000:]
for tol in (0.1, 0.01, 0.001):
    model = MulticlassSVM(C=0.1, tol=tol).fit(X_train, y_train)
    proof = model.certificate_
    print(
        f"tol={tol}: objective {proof.primal:.3f}, the best is at least {proof.dual:.3f};"
    )
    print(
        f"    {model.n_iter_} passes, {model.score(X_test, y_test):.1%} of new digits right"
    )

plots.plot_convergence(model)
