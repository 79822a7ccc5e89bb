"""Taxonomies: trees and DAGs of classes, and the losses that they define."""

from maxmargin.classes.taxonomy.taxonomy import (
    Node,
    Taxonomy,
    add_path,
    as_taxonomy,
    taxonomy_of_labels,
)

__all__ = ["Node", "Taxonomy", "add_path", "as_taxonomy", "taxonomy_of_labels"]
