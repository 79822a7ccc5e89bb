"""The task ``classify``: texts or vectors into the classes of a taxonomy."""

from maxmargin.cli.task import Output, Task


class ClassifyTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "classify"
    about = (
        "Classify texts or vectors, one per line, into the classes of a tree or DAG."
    )
    example = """example:
  maxmargin train classify train.txt -o news.model
  maxmargin train classify questions.txt --separator : --ngrams 2 -o trec.model
  maxmargin train classify train.svm --format svmlight --taxonomy tree.txt -o m.model
  maxmargin train classify train.txt --multilabel --path 0.1,1,10 --cv 5 -o m.model

Lines are a label, a tab and a text; see docs/classify.md. Files may be compressed with
gzip."""
    estimators = {"svm": "TaxonomySVM"}
    hidden = frozenset({"nodes", "node_weights"})
    essential = "format multilabel taxonomy separator ngrams loss"
    options = """
    the file
      --format text|svmlight=text  text (default): a label and a text per line; svmlight:
          LABEL 3:0.5 7:1 ...
      --encoding NAME=utf-8  default: utf-8
      --shards FOLDER  for vectors larger than memory: read the file (or folder, or glob)
          into this folder, or use what is there. TRAIN may be such a folder itself
      --multilabel  labels are sets: a,b,c; the ancestors of a node are predicted, too
    the taxonomy
      --taxonomy FILE  'parent child' or one path per line (default: the labels are paths)
      --separator TEXT=.  of paths such as rec.autos (default: .)
    features of texts
      --ngrams N  runs of up to N words (default: 1)
      --weighting tfidf|binary|count  of words (default: tfidf)
      --min-count N  ignore words that occur in fewer texts
    the model
      --mode hierarchical|flat  whether classes share the weights of their ancestors
          (default: hierarchical)
      --loss tree|tree-height|tree-distance|zero-one  what a wrong class costs (default:
          tree, the height of the common ancestor)
      --rescaling margin|slack
      --penalty linear|quadratic
      --C  weight of the data (default: 1, for log 20, / total variance of the features)
    """
    outputs = {"text": Output()}
    evaluate_options = "--confusion FILE.png  draw which labels are confused"
    inspect_options = "--label L+  only this label; repeatable"


COMMAND = ClassifyTask
