"""``maxmargin shard``: from text files to a corpus on disk, for training."""

from __future__ import annotations

from maxmargin.cli.language import options_of
from maxmargin.cli.options import add_options
from maxmargin.fitting.parameters import Shared

OPTIONS = """
the files
  --format columns|conllu|svmlight  default: conllu if the name or contents of the
      first file suggest it; svmlight: vectors with classes, for train classify
  --label-column COLUMN  numbered from 0, or from -1 at the end (default: -1); in
      CoNLL-U also a name (default: UPOS). Templates number the columns without it
  --word-column COLUMN  words for built-in features (default: the first column; in CoNLL-U
      FORM)
  --separator TEXT  exactly this, such as , or \\t (default: spaces and tabs)
  --encoding NAME=utf-8  default: utf-8
  --comment MARK  skip lines that begin with MARK, between sentences
features, one of
  --template FILE  a template in the syntax of CRF++ or Wapiti
  --features NAME  a built-in set: chunking, ner, pos, words
  --like MODEL  those of a model or of another corpus, for test data
  --min-count N  ignore features that occur less often
  --hashing N  hash features into N numbers, a power of two, without counting
  --gazetteer FILE+  as in train tag; repeatable
the work
  --shard-tokens N=500000  approximate number of tokens per shard (default: 500000)
  --shard-entries N=1000000  the same for vectors, in values (default: 1000000)
  --n-jobs N=1  processes that read and threads that encode
  --overwrite  replace an existing corpus
  --quiet  no progress, no summary
"""

OF_TAGS = (
    "label_column",
    "word_column",
    "separator",
    "comment",
    "template",
    "features",
)
OF_TAGS = (*OF_TAGS, "min_count", "hashing", "gazetteer")


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "shard",
        help="encode text files into a folder, for data larger than memory",
        description="Encode tagged text files, or vectors, into a folder of shards.",
        epilog="""example:
  maxmargin shard 'corpus/*.gz' --features chunking --min-count 5 -o shards
  maxmargin train tag shards --C 0.01 -o chunks.model

FILE is a file, a folder, a glob, or an address that fsspec opens. The folder appears
whole or not at all. See docs/scaling.md.""",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="gzip is recognised")
    what = "the folder to make"
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help=what)
    add_options(parser, OPTIONS, {"n_jobs": Shared.declared["n_jobs"]})
    # what `train tag` asks of the same options
    parser.set_defaults(model="svm")
    parser.set_defaults(run=run, spoken=options_of(parser))


def run(args) -> int:
    if args.format == "svmlight":
        return _vectors(args)
    from maxmargin.tags.corpus.command import build_corpus

    corpus = build_corpus(args.files, args.output, args)
    if not args.quiet:
        print(
            f"{corpus.n_sentences:,} sentences, {corpus.n_tokens:,} tokens, "
            f"{len(corpus.labels)} labels and {corpus.n_features:,} features in "
            f"{len(corpus.shards)} shards in {args.output}."
        )
    return 0


def _vectors(args) -> int:
    from maxmargin.classes.corpus import ClassCorpus
    from maxmargin.files.model_file import load

    for name in OF_TAGS:
        if getattr(args, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')} is for tagged text: leave it out with "
                "--format svmlight."
            )
    corpus = ClassCorpus.build(
        args.output,
        args.files,
        args.encoding,
        args.shard_entries,
        n_features=args.like and load(args.like).coef_.shape[1],
        overwrite=args.overwrite,
        verbose=int(not args.quiet),
    )
    if not args.quiet:
        print(
            f"{corpus.n_samples:,} vectors, {corpus.n_entries:,} values, "
            f"{len(corpus.labels)} labels and {corpus.n_features:,} features in "
            f"{len(corpus.shards)} shards in {args.output}."
        )
    return 0
