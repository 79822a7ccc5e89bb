"""The task ``tag``: label every token of a file."""

from maxmargin.cli.task import K_BEST, MARGINALS, Output, Task
from maxmargin.tags.formats import FORMATS


class TagTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "tag"
    about = "Label every token: a file with one token per line, its label in a column."
    example = """example:
  maxmargin train tag train.txt --features chunking --C 0.1 -o chunks.model
  maxmargin train tag train.txt --template my.template --scheme BIO -o ner.model
  maxmargin train tag train.txt --features ner --path 0.03,0.1,0.3 --cv 5 -o ner.model
  maxmargin train tag train.txt --features words --model hmm -o baseline.model
  maxmargin train tag train.txt --model neural --dev dev.txt -o network.model

Files may be compressed with gzip. How to write templates: docs/features.md."""
    items = "sentences"
    estimators = {
        "svm": "SequenceTagger",
        "hmm": "HMMTagger",
        "neural": "NeuralTagger",
    }
    chooser = "model"
    hidden = frozenset({"feature_options", "forbidden"})
    usual = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    alone = ("truth", "predicted", "separator", "comment")
    essential = "label_column template features objective scheme model"
    options = f"""
    the file
      --format {"|".join(FORMATS)}  default: conllu if the name or the contents suggest it,
          else columns
      --label-column COLUMN  numbered from 0, or from -1 at the end (default: -1); in
          CoNLL-U also a name (default: UPOS). Templates number the columns without it
      --word-column COLUMN  words for built-in features, numbered as in the file (default:
          the first column; in CoNLL-U FORM)
      --separator TEXT  exactly this, such as , or \\t (default: spaces and tabs)
      --encoding NAME=utf-8  default: utf-8
      --comment MARK  skip lines that begin with MARK, between sentences
      --shards FOLDER  for data larger than memory: encode the file (or folder, or glob)
          into this folder, or use what is there. TRAIN may be such a folder itself
    features, one of
      --template FILE  a template in the syntax of CRF++ or Wapiti
      --features NAME  a built-in set: chunking, ner, pos, words
      --min-count  ignore features that occur less often
      --gazetteer FILE+  a list, one entry per line, which templates refer to by the name
          of the file (%g[0,0,cities] for cities.txt), or NAME=FILE; repeatable
    the model
      --model svm|hmm|neural=svm  svm (default) is trained; hmm counts, and of these
          settings only takes the features, the scheme, the decoding and --alpha; neural is
          a network (needs PyTorch), which needs no features: it reads words, their
          characters and the other columns, and ends training early on --dev, or on a tenth
          of TRAIN
      --objective  hinge, hinge-per-output, log (CRF), marginal, exponential, boosting,
          perceptron, passive-aggressive; of a network log (default there) or hinge
      --C  weight of the data (default: 0.1 for hinge, 1 for the others)
      --l1  L1 penalty, for sparse weights
      --order  of transitions: 0, 1 or 2
      --scheme  BIO, IOB1, BIOES, BILOU, IO or auto: never predict labels that violate it
      --repair  correct training labels that violate the scheme, in the way conlleval reads
          them
      --loss hamming|zero-one|spans|absolute  what a wrong labelling costs (default:
          hamming); absolute is |true - predicted| for numeric labels
      --decoding  auto, viterbi or posterior (the best label of every token)
      --alpha  added to the counts of an hmm
    a kernel of the features
      --kernel
      --method  how its basis is chosen: exact (all tokens), subspace-pursuit,
          training-points, nystroem, nystroem-kmeans, nystroem-leverage or
          incomplete-cholesky
      --n-components  tokens in the basis
      --gamma
      --kernel-memory
    a network (--model neural)
      --encoder
      --word-size
      --char-size
      --column-size
      --feature-size
      --hidden-size
      --n-layers
      --dropout
      --learning-rate
      --schedule
      --weight-decay
      --batch-size
      --hinge-start
      --warm-up
      --patience
      --validation-fraction
      --device
    """
    numbered = "sentence"
    outputs = {  # "same" is as the file that is tagged
        "same": Output((".conll",)),
        "conllu": Output((".conllu",)),
    }
    predict_options = K_BEST + MARGINALS
    evaluate_options = """
      --confusion FILE.png  draw which labels are confused
    without a model
      --truth COLUMN  by number (default: -2), or by name in CoNLL-U
      --predicted COLUMN  likewise (default: -1)
      --separator TEXT  as in train (default: spaces and tabs)
      --comment MARK  skip lines that begin with MARK
    """
    inspect_options = """
      --label L+  only this label; repeatable
      --transitions  print the weights of transitions
    """


COMMAND = TagTask
