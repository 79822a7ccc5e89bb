"""Miss fewer tumours by making misses expensive.

Not all errors are equal. Taking a malignant tumour for a benign one is worse than a false
alarm, and ``loss`` defines by how much: ``{"malignant": 10.0}`` makes it ten times as bad.

As this cost grows, the model raises more false alarms and misses fewer tumours. Every
point is counted on samples left out of training (10 folds).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import MulticlassSVM

data = load_breast_cancer()
y = data.target_names[data.target]
costs, missed, alarms = [1, 2, 4, 8, 16], [], []
for cost in costs:
    svm = MulticlassSVM(C=0.01, loss={"malignant": float(cost)})
    model = make_pipeline(StandardScaler(), svm)
    found = cross_val_predict(model, data.data, y, cv=10)
    missed.append(int(np.sum((y == "malignant") & (found == "benign"))))
    alarms.append(int(np.sum((y == "benign") & (found == "malignant"))))
    print(
        f"cost {cost:>2}: {missed[-1]:>2} tumours missed, {alarms[-1]:>2} false alarms"
    )

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(costs, missed, "o-", color="#D55E00", label="malignant tumours missed")
ax.plot(costs, alarms, "s--", color="#0072B2", label="false alarms")
ax.set(xscale="log", xlabel="cost of missing a tumour (a false alarm costs 1)")
ax.set_xticks(costs, costs)
ax.minorticks_off()
n_bad = int(np.sum(y == "malignant"))
ax.set_ylabel("patients")
ax.set_title(f"{n_bad} malignant and {len(y) - n_bad} benign tumours")
ax.grid(axis="y", color="0.9")
ax.legend(frameon=False)
