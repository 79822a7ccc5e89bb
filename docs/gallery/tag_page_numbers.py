"""Read handwritten page numbers with the help of their neighbours.

The pages of a notebook are numbered, and some are lost. A string holds the last digits of
the remaining numbers, each a scanned digit of 8 x 8 pixels.

One model reads each digit alone. The other also learns which digit tends to follow which,
and chooses all digits of a string together.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import MulticlassSVM, SequenceTagger, plots
from maxmargin.files import digit_strings

train = digit_strings(500, split="train")
test = digit_strings(300, split="test")

alone = MulticlassSVM(C=0.03).fit(np.vstack(train.X), np.concatenate(train.y))
chain = SequenceTagger(C=0.03).fit(train.X, train.y)

read = {
    "alone": [alone.predict(x).tolist() for x in test.X],
    "chain": list(chain.predict(test.X)),
}
for name, strings in read.items():
    right = np.array(strings) == np.array(test.y)
    print(
        f"{name}: {right.mean():.1%} of the digits are right, "
        f"{right.all(axis=1).mean():.1%} of the strings"
    )

shown = [i for i, truth in enumerate(test.y) if read["alone"][i] != truth][:6]
figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
plots.plot_predictions(
    [test.images[i] for i in shown],
    [test.y[i] for i in shown],
    {name: [strings[i] for i in shown] for name, strings in read.items()},
    title="The first strings that are misread digit by digit",
    ax=ax,
)
plots.plot_transitions(chain)
