"""Recognise digits with forty pictures that the model draws itself.

The score of a class is a sum of functions, each centred on a picture. Training may move the
pixels of these pictures freely. The results do not look like digits of the data: they show
what tells digits apart.

The curves compare them with pictures drawn at random from the data: with as many functions,
these make more errors.
"""

from sklearn.datasets import load_digits

from maxmargin import KernelSVM, plots

X, y = load_digits(return_X_y=True)
X_train, y_train, X_test, y_test = X[:1000] / 16, y[:1000], X[1000:] / 16, y[1000:]
sizes = [10, 20, 40, 80]

found = KernelSVM(C=10).path(X_train, y_train, n_components=sizes)
drawn = KernelSVM(C=10, method="nystroem").path(X_train, y_train, n_components=sizes)
exact = KernelSVM(C=10).fit(X_train, y_train)
for size, moved, random in zip(sizes, found, drawn, strict=True):
    print(
        f"{size} functions: {moved.score(X_test, y_test):.1%} right, "
        f"{random.score(X_test, y_test):.1%} with random pictures"
    )
print(
    f"exact machine: {exact.score(X_test, y_test):.1%}, {len(exact.basis_)} functions"
)

plots.plot_basis_images(found[sizes.index(40)])
plots.plot_accuracy_by_size(
    {"found while training": found, "at random": drawn, "all": [exact]}, X_test, y_test
)
