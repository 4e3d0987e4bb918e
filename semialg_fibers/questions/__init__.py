"""One file, one question, one answer with its reason."""
