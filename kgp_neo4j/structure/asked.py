"""A question's form, and what it is about."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A form's name, and what it is about: a phrase to look for, or a column's name."""

    form: str
    target: str = ""
