"""Traverse: seeds in; passages and the paths that lead to them out (KGP, Algorithm 1)."""
