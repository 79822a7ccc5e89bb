"""Label sequences by neural networks: estimators on top of the layers of ``torch/``.

PyTorch is imported when something is fitted or loaded, not before.
"""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"NeuralTagger": "tagger"},
    models=("NeuralTagger.v1",),
    reports={"NeuralTagger": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
