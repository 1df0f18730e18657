"""What the readers of triple files, tables and databases have in common."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from kgp_neo4j.errors import InputError

__all__ = ["Fact", "Named", "Reading"]


class Fact(NamedTuple):
    """A triple as a source gives it; an empty or missing part makes it one that is skipped."""

    head: str
    relation: str
    tail: str
    where: str
    head_type: str = ""
    tail_type: str = ""


class Named(NamedTuple):
    """An entity with its type and other names; it need not be in any triple."""

    name: str
    where: str
    type: str = ""
    aliases: tuple[str, ...] = ()


#: What a reader yields; an InputError stands for what could not be read.
Reading: TypeAlias = Fact | Named | InputError
