"""Batches in pieces: cut, on disk, or in the shards of a cluster."""
