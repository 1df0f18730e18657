"""Reads the user's file of aliases: further names of documents, redirects among them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from kgp_neo4j.errors import InputError

__all__ = ["read_aliases"]


def read_aliases(path: str | Path, titles: Collection[str]) -> dict[str, list[str]]:
    """Return the aliases of each title in a file of lines `alias<TAB>title`, or of JSON objects.

    A JSON line is `{"alias": "...", "title": "..."}`. Empty lines, and titles that are not among
    `titles`, are passed over. Raises InputError for a file that cannot be read, for a line of
    another form, and where no title at all is known.
    """
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            f"it cannot be read ({error.strerror})", where=str(path), hint="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8", where=str(path), hint="Save it as UTF-8.") from error
    known = set(titles)
    made: dict[str, list[str]] = defaultdict(list)
    lines = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            alias, title = _pair(line.rstrip("\r"), f"{path}:{number}")
            lines += 1
            if title in known:
                made[title].append(alias)
    if lines and not made:
        raise InputError(
            f"none of its {lines} titles is a document of the corpus",
            where=str(path),
            hint="Each line is an alias, a tab, and the title it stands for.",
        )
    return dict(made)


def _pair(line: str, where: str) -> tuple[str, str]:
    alias: object = None
    title: object = None
    if line.lstrip().startswith("{"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            alias, title = row.get("alias"), row.get("title")
    elif line.count("\t") == 1:
        alias, title = line.split("\t")
    if isinstance(alias, str) and isinstance(title, str) and alias.strip() and title.strip():
        return alias.strip(), title.strip()
    raise InputError(
        "this line names no alias and title",
        where=where,
        hint='Write alias, tab, title; or {"alias": "...", "title": "..."}.',
    )
