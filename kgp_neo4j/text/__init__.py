"""Text: a string in; words, sentences, values and characters out, and what is safe to print."""
