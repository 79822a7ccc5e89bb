"""The best tree of a sentence under a grammar: CKY and its relatives."""
