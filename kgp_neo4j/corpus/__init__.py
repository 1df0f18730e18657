"""Corpus (KGP): documents in; answers with passages and reasoning paths out."""
