"""One file per structure: its batch, its decoder, its features."""
