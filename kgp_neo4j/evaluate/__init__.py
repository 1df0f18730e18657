"""Evaluate: questions in; run files and scores out."""
