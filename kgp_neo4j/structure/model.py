"""Answers by a language model from fetched pages and tables, as the paper does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from kgp_neo4j.structure.about_tables import markdown_of
from kgp_neo4j.structure.answers import Context, table_of
from kgp_neo4j.structure.outline import TableOutline
from kgp_neo4j.structures import StructuralAnswer

__all__ = ["MOST_CHARACTERS", "answered_by_model"]

#: What a prompt may hold of pages and tables, about 4,000 tokens.
MOST_CHARACTERS = 16_000
_ROWS = 40
_TASK = (
    "Answer the question from the pages and tables below alone. Answer in a few words or "
    "sentences; "
    "if they do not say it, answer: not stated.\n\n{content}\n\nQuestion: {question}\nAnswer:"
)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def answered_by_model(
    context: Context,
    write: Callable[[str], str],
    fetched: StructuralAnswer,
    tables: Sequence[TableOutline] = (),
) -> StructuralAnswer | None:
    """Return what the model answers from what was fetched; None where it says nothing.

    Tables are cut by rows and pages by characters where they are too long, and both the prompt and
    the answer say so. The citations stay those of what was fetched.
    """
    parts, cuts = [], []
    room = MOST_CHARACTERS // max(1, len(tables) or 1)
    for table in tables or (context.found.tables if not context.found.pages else ()):
        markdown, cut = _fitted(context, table, room)
        name = table_of(context, table)
        parts.append(f"{name}: {table.caption}\n\n{markdown}" + (f"\n\n({cut})" if cut else ""))
        cuts += [f"{name}: {cut}"] if cut else []
    if not parts or context.found.pages:
        text = fetched.markdown
        if len(text) > MOST_CHARACTERS:
            text = text[:MOST_CHARACTERS].rsplit("\n", 1)[0]
            cuts.append(f"the first {len(text):,} of {len(fetched.markdown):,} characters shown")
            text += f"\n\n({cuts[-1]})"
        parts.insert(0, text)
    prompt = _TASK.format(content="\n\n".join(filter(None, parts)), question=context.made.question)
    reply = _THOUGHT.sub("", write(prompt)).strip()
    if not reply:
        return None
    said = f"{reply}\n({'; '.join(cuts)})" if cuts else reply
    citations = fetched.citations or tuple(
        context.library.cite(table.document, table=table, text=table.caption) for table in tables
    )
    return replace(
        fetched,
        text=said,
        values=(reply,),
        sure=True,
        found=True,
        doubt="",
        confidence=0.5,
        citations=citations,
        reading=f"{fetched.reading}, answered by a language model".lstrip(", "),
    )


def _fitted(context: Context, table: TableOutline, room: int) -> tuple[str, str]:
    """Return a table's Markdown with as many of its first rows as there is room for."""
    rows = _ROWS
    while True:
        markdown, cut = markdown_of(context, table, rows)
        if len(markdown) <= room or rows <= 1:
            return markdown, cut
        rows = max(1, min(rows - 1, rows * room // len(markdown)))
