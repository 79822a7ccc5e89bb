"""Files: readers and writers of all families, where data sets are, model files."""

from maxmargin.families import lazily, places

_WHERE = {
    "RawText": "maxmargin.files.text_files",
    "data_file": "maxmargin.files.paths",
    "data_home": "maxmargin.files.paths",
    "dataset_column": "maxmargin.files.datasets",
    "read_dataset": "maxmargin.files.datasets",
    "read_raw": "maxmargin.files.text_files",
    **places("files"),
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
