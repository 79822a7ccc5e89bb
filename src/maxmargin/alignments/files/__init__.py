"""Files of alignments: FASTA, Stockholm, tables of pairs."""
