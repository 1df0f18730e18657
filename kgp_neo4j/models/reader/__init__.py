"""The reader's network: a question and passages in; spans with their scores out."""
