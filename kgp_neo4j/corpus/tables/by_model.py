"""Structural questions by a language model: it chooses a look-up, or answers from one.

KGP lets a language model decide ("we first apply LLM to classify whether the question is asking
about the document structure or content", Wang et al., AAAI 2024, section "LLM-based KG traversal
agent"). Here one reply classifies the question and names the look-up; nothing of the reply is run
but the look-up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kgp_neo4j.corpus.answer.check import Evidence
from kgp_neo4j.corpus.answer.reply import Parsed, parse_reply
from kgp_neo4j.corpus.tables.decide import Write
from kgp_neo4j.corpus.tables.look_up import KINDS, Context, LookUp
from kgp_neo4j.corpus.tables.outline import TableOutline, cite, named_documents
from kgp_neo4j.corpus.tables.references import TABLE_ID, References, TableRef
from kgp_neo4j.corpus.tables.resolving import resolve
from kgp_neo4j.corpus.tables.tables import markdown_of
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

__all__ = ["answered_by_model", "choose_by_model"]


# --- Choice ---

_TYPES = ("structural", "content", "both")
_LISTS = ("documents", "pages", "tables", "rows", "columns")
_TEXTS = ("type", "kind", "part", "phrase", "each", "pick")
_CHOICES = {
    "each": ("", "page", "table", "document"),
    "pick": ("", "most", "fewest"),
}
#: Documents that the prompt lists, and characters for each with its tables.
_LISTED, _LINE = 20, 400


def choose_by_model(context: Context, write: Write) -> tuple[TypeDecision, Context | None] | None:
    """Return the type of a question and the look-up that a language model chooses for it.

    `write` takes a prompt and returns the reply, a JSON object that is checked against the kinds of
    look-ups and the existing documents. A reply that cannot be used is requested once more, with
    its fault; None where the second cannot be used either.
    """
    prompt, wrong = _prompt(context), ""
    for _ in range(2):
        try:
            return _read(context, write(prompt + wrong))
        except ValueError as error:
            wrong = f"\nYour last reply could not be used: {error}."
    return None


def _prompt(context: Context) -> str:
    library = context.library
    documents = []
    for document in context.documents[:_LISTED]:
        tables = "; ".join(f"{t.name} {t.caption}".strip() for t in library.tables([document]))
        line = f'- "{document.title}" ({document.pages} pages): {tables}'
        documents.append(" ".join(line.split())[:_LINE])
    kinds = [f"- {k} (part: {', '.join(kind.parts)}): {kind.gives}" for k, kind in KINDS.items()]
    return "\n".join(
        [
            "Choose the look-up that answers a question about documents. The documents, with their "
            "tables:",
            *documents,
            "The kinds of look-ups:",
            *kinds,
            "Reply with one JSON object and nothing else, leaving out what is not needed:",
            '{"type": "structural, content or both", "kind": "...", "part": "...", "documents": '
            '["title"], "pages": [1], "tables": ["Table 1"], "rows": [1, "name"], "columns": [1, '
            '"name"], "phrase": "...", "each": "...", "pick": "..."}',
            "The type is structural if the question asks about pages, tables or their parts, "
            "content if it asks for facts wherever they are stated (it needs no look-up then), "
            "both if it does both.",
            f"Question: {context.references.question}",
        ]
    )


def _read(context: Context, reply: str) -> tuple[TypeDecision, Context | None]:
    """Return the contents of a reply; raises ValueError with its fault."""
    given = _parsed(reply)
    if given["type"] not in _TYPES:
        raise ValueError(f"type must be one of {', '.join(_TYPES)}")
    decision = TypeDecision(given["type"], by="model", reason="a language model decided")
    if decision.type == "content":
        return decision, None
    references = _references(context, given)
    look = _look_up(given)
    chosen = resolve(context.library, references, look, by_model=True)
    _check(look, references)
    return decision, chosen


def _parsed(reply: str) -> dict[str, Any]:
    """Return the JSON object of a reply: texts and lists of numbers and texts, by their keys."""
    match = re.search(r"\{.*\}", without_reasoning(reply), re.DOTALL)
    try:
        given: Any = json.loads(match[0]) if match else None
    except RecursionError:
        given = None
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from error
    if not isinstance(given, dict):
        raise ValueError("it holds no JSON object")
    if unknown := sorted(given.keys() - {*_LISTS, *_TEXTS}):
        raise ValueError(f"there is no key {', '.join(unknown)[:80]}")
    for name in _TEXTS:
        if not isinstance(given.setdefault(name, ""), str):
            raise ValueError(f"{name} must be a text")
    for name in _LISTS:
        if isinstance(given.setdefault(name, []), str | int):
            given[name] = [given[name]]
        if not isinstance(given[name], list) or any(
            isinstance(each, bool) or not isinstance(each, str | int) for each in given[name]
        ):
            raise ValueError(f"{name} must be a list of numbers and texts")
    return given


def _references(context: Context, given: dict[str, Any]) -> References:
    words = context.references
    references = References(question=words.question, rest=words.rest)
    for title in map(str, given["documents"]):
        named = named_documents(title, context.library.documents)
        if not named:
            raise ValueError(f"there is no document {title[:80]!r}")
        references.documents += named[0].documents
    for page in map(str, given["pages"]):
        number = re.fullmatch(r"-?\d{1,9}", page)
        references.pages.append((int(page),) if number else (page,))
    for table in map(str, given["tables"]):
        number = re.fullmatch(rf"(?:table\s+)?({TABLE_ID})", table.strip(), re.IGNORECASE)
        references.tables.append(TableRef(number[1]) if number else TableRef(words=table))
    references.rows = [row for row in given["rows"] if isinstance(row, int)]
    references.columns = [column for column in given["columns"] if isinstance(column, int)]
    return references


def _look_up(given: dict[str, Any]) -> LookUp:
    kind = given["kind"]
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}")
    parts = KINDS[kind].parts
    part = given["part"] or parts[0]
    if part not in parts:
        raise ValueError(f"part of {kind} must be one of {', '.join(parts)}")
    for name, known in _CHOICES.items():
        if given[name] not in known:
            raise ValueError(f"{name} must be one of {', '.join(known[1:])}")
    row, column = (
        next((each for each in given[name] if isinstance(each, str)), "")
        for name in ("rows", "columns")
    )
    return LookUp(kind, part, given["phrase"], row, column, given["each"], given["pick"])


def _check(look: LookUp, references: References) -> None:
    """Raise ValueError where a look-up lacks something that it needs."""
    needs = KINDS[look.kind].needs
    if look.part in ("headings", "times"):
        needs = ("phrase",) if look.part == "times" else ()
    elif look.kind == "count" and look.part in ("rows", "columns") and not look.each:
        needs = ("tables",)
    given = {
        "pages": references.pages,
        "tables": references.tables,
        "rows": references.rows or look.row,
        "columns": references.columns or look.column,
        "phrase": look.phrase,
        "pages or tables": references.pages or references.tables,
    }
    for need in needs:
        if not given[need]:
            raise ValueError(f"the look-up {look.kind} needs {need}")


# --- Answers ---

#: Characters of pages and tables in a prompt at most, about 4,000 tokens.
_MOST_CHARACTERS = 16_000
#: Lines of them that may carry one sentence together.
_MOST_LINES = 8
_TASK = (
    "Answer the question from the pages and tables below alone. Answer in a few words or "
    "sentences; if they do not say it, answer: not stated.\n\n{content}\n\n"
    "Question: {question}\nAnswer:"
)


def answered_by_model(
    context: Context,
    write: Write,
    fetched: StructuralAnswer,
    tables: Sequence[TableOutline] = (),
) -> StructuralAnswer | None:
    """Return the model's answer from the fetched content; None where it gives none.

    It is sure where each of its sentences is carried by what it was given: its names and numbers
    stand there, and enough of its words. A reply that nothing is stated is no answer. Tables are
    cut by rows and pages by characters where they are too long, and both the prompt and the answer
    state that. The citations stay those of the fetched content.
    """
    parts, cuts = _shown(context, fetched, tables)
    question = context.references.question
    prompt = _TASK.format(content="\n\n".join(filter(None, parts)), question=question)
    reply = without_reasoning(write(prompt))
    if not reply:
        return None
    parsed = parse_reply(reply, "long")
    if parsed.kind != "answer":
        doubt = "the language model does not find it in what it was given"
        return replace(fetched, text="", values=(), sure=False, doubt=doubt, confidence=0.0)
    against = _against(question, parsed, parts)
    cited = [cite(table.document, table=table, text=table.caption) for table in tables]
    return replace(
        fetched,
        text=f"{reply}\n({'; '.join(cuts)})" if cuts else reply,
        values=(reply,),
        sure=not against,
        found=True,
        doubt=f"the language model's answer is not carried: {against}" if against else "",
        confidence=0.0 if against else 0.5,
        citations=fetched.citations or tuple(cited),
        reading=f"{fetched.reading}, answered by a language model".lstrip(", "),
    )


def _shown(
    context: Context, fetched: StructuralAnswer, tables: Sequence[TableOutline]
) -> tuple[list[str], list[str]]:
    """Return the texts of pages and tables for the prompt, and notes on what was cut."""
    parts, cuts = [], []
    room = _MOST_CHARACTERS // max(1, len(tables))
    for table in tables or (() if context.pages else context.tables):
        markdown, cut = markdown_of(context, table, room)
        parts.append(f"{table.called}: {table.caption}\n\n{markdown}")
        if cut:
            parts[-1] += f"\n\n({cut})"
            cuts.append(f"{table.called}: {cut}")
    if not parts or context.pages:
        text = fetched.markdown
        if len(text) > _MOST_CHARACTERS:
            text = text[:_MOST_CHARACTERS].rsplit("\n", 1)[0]
            cuts.append(f"the first {len(text):,} of {len(fetched.markdown):,} characters shown")
            text += f"\n\n({cuts[-1]})"
        parts.insert(0, text)
    return parts, cuts


def _against(question: str, reply: Parsed, given: Sequence[str]) -> str:
    """Return what speaks against a reply in the pages and tables given; empty where nothing."""
    lines = [line for part in given for line in part.splitlines() if line.strip()]
    passages = [Passage(str(n), "", "", n, 0, len(line), line) for n, line in enumerate(lines)]
    evidence = Evidence(question, passages, None)
    supports = (
        evidence.support(claim.text, evidence.sharing(claim.text, _MOST_LINES))
        for claim in reply.claims
    )
    return next((support.against for support in supports if not support.carried), "")
