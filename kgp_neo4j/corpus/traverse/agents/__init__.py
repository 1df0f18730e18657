"""Agents: a reasoning path in; the evidence that should come next out (KGP, Eq. 1)."""
