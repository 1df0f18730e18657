"""Evaluate: questions in; run files, scores and reports out."""
