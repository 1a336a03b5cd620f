"""A result becomes a document, and a document becomes text. Nothing here computes a statistic."""
