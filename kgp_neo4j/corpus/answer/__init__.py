"""Answer: a question in; an answer with checked citations out."""
