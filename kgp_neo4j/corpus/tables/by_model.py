"""Structural questions by a language model: it chooses a look-up, or answers from one.

KGP lets a language model decide whether a question asks about structure or content (Wang et al.,
AAAI 2024, section "LLM-based KG traversal agent"). Here its reply also names the look-up to run.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import msgspec

from kgp_neo4j.corpus.answer.check import Evidence
from kgp_neo4j.corpus.answer.reply import Parsed, parse_reply
from kgp_neo4j.corpus.tables.look_up import KINDS, Context, LookUp, resolve
from kgp_neo4j.corpus.tables.outline import TableOutline, cite_table, named_documents
from kgp_neo4j.corpus.tables.references import TABLE_ID, References, TableRef
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

#: Documents that the prompt lists, and characters for each with its tables.
_LISTED, _LINE = 20, 400
_CHOOSE = """Choose the look-up that answers a question about documents. The documents, with their \
tables:
{documents}
The kinds of look-ups:
{kinds}
Reply with one JSON object and nothing else, leaving out what is not needed:
{{"type": "structural, content or both", "kind": "...", "part": "...", "documents": ["title"], \
"pages": [1], "tables": ["Table 1"], "rows": [1, "name"], "columns": [1, "name"], "phrase": "...", \
"each": "...", "pick": "..."}}
The type is structural if the question asks about pages, tables or their parts, content if it asks \
for facts wherever they are stated (it needs no look-up then), both if it does both.
Question: {question}"""
#: A place, or a name; the database takes at most 64 bits.
_Place = Annotated[int, msgspec.Meta(ge=-(10**9), le=10**9)] | str


class _Choice(msgspec.Struct, forbid_unknown_fields=True):
    """A reply: the type of the question, and a look-up with what it needs."""

    type: Literal["structural", "content", "both"]
    kind: str = ""
    part: str = ""
    documents: list[str] = []
    pages: list[_Place] = []
    tables: list[_Place] = []
    rows: list[_Place] = []
    columns: list[_Place] = []
    phrase: str = ""
    each: Literal["", "page", "table", "document"] = ""
    pick: Literal["", "most", "fewest"] = ""


def choose_by_model(
    context: Context, write: Write, decision: TypeDecision
) -> tuple[TypeDecision, Context | None]:
    """Return the type of a question and the look-up that a language model chooses for it.

    A reply that cannot be used is requested once more, with its fault; where the second cannot be
    used either, the `decision` by the words stays.
    """
    documents = []
    for document in context.documents[:_LISTED]:
        tables = context.library.tables([document])
        named = "; ".join(f"{table.name} {table.caption}".strip() for table in tables)
        line = f'- "{document.name}" ({document.pages} pages): {named}'
        documents.append(" ".join(line.split())[:_LINE])
    kinds = [f"- {k} (part: {', '.join(kind.parts)}): {kind.gives}" for k, kind in KINDS.items()]
    prompt = _CHOOSE.format(
        documents="\n".join(documents), kinds="\n".join(kinds), question=context.references.question
    )
    wrong = ""
    for _ in range(2):
        try:
            return _read(context, write(prompt + wrong, schema=msgspec.json.schema(_Choice)))
        except (ValueError, RecursionError) as error:
            wrong = f"\nYour last reply could not be used: {error}."
    reason = f"the model's reply could not be used; {decision.reason}"
    return replace(decision, reason=reason), None


def _read(context: Context, reply: str) -> tuple[TypeDecision, Context | None]:
    """Return the contents of a reply; raises ValueError with its fault."""
    match = re.search(r"(?s)\{.*\}", without_reasoning(reply))
    if match is None:
        raise ValueError("it holds no JSON object")
    choice = msgspec.json.decode(match[0], type=_Choice)
    decision = TypeDecision(choice.type, by="model", reason="a language model decided")
    if choice.type == "content":
        return decision, None
    if choice.kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}")
    kind = KINDS[choice.kind]
    part = choice.part or kind.parts[0]
    if part not in kind.parts:
        raise ValueError(f"part of {choice.kind} must be one of {', '.join(kind.parts)}")
    for need in kind.needs:
        if not getattr(choice, need) and part != "headings":
            raise ValueError(f"the look-up {choice.kind} needs {need}")
    references = References(question=context.references.question, rest=context.references.rest)
    for title in choice.documents:
        named = named_documents(title, context.library.documents)
        if not named:
            raise ValueError(f"there is no document {title[:80]!r}")
        references.documents += named[0].documents
    references.pages += [(page,) for page in choice.pages]
    for table in map(str, choice.tables):
        number = re.fullmatch(rf"(?:table\s+)?({TABLE_ID})", table.strip(), re.IGNORECASE)
        references.tables.append(TableRef(number[1]) if number else TableRef(words=table))
    references.rows += [row for row in choice.rows if isinstance(row, int)]
    references.columns += [column for column in choice.columns if isinstance(column, int)]
    row = next((row for row in choice.rows if isinstance(row, str)), "")
    column = next((column for column in choice.columns if isinstance(column, str)), "")
    look = LookUp(choice.kind, part, choice.phrase, row, column, choice.each, choice.pick)
    return decision, resolve(context.library, references, look)


#: Characters of pages and tables in a prompt at most, about 4,000 tokens, and lines of them that
#: may carry one sentence together.
_MOST_CHARACTERS, _MOST_LINES = 16_000, 8
_TASK = (
    "Answer the question from the pages and tables below alone. Answer in a few words or "
    "sentences; if they do not say it, answer: not stated.\n\n{content}\n\n"
    "Question: {question}\nAnswer:"
)
#: The note on a table or page that is not shown whole.
_CUT = re.compile(r"^\(((?:rows 1-|the first ).* shown)\)$", re.MULTILINE)


def answered_by_model(
    context: Context, write: Write, fetched: StructuralAnswer, tables: Sequence[TableOutline] = ()
) -> StructuralAnswer | None:
    """Return the model's answer from the fetched content; None where it gives none.

    It is sure where each of its sentences is carried by what it was given. Content that is too long
    is cut, which both the prompt and the answer state.
    """
    content = fetched.markdown
    if len(content) > _MOST_CHARACTERS:
        content = content[:_MOST_CHARACTERS].rsplit("\n", 1)[0]
        content += f"\n\n(the first {len(content):,} of {len(fetched.markdown):,} characters shown)"
    captions = [f"{table.called}: {table.caption}" for table in tables or context.tables]
    content = "\n\n".join([*captions, content])
    question = context.references.question
    reply = without_reasoning(write(_TASK.format(content=content, question=question)))
    if not reply:
        return None
    parsed = parse_reply(reply, "long")
    if parsed.kind != "answer":
        doubt = "the language model does not find it in what it was given"
        return replace(fetched, text="", values=(), sure=False, doubt=doubt, confidence=0.0)
    against = _against(question, parsed, content)
    cuts = _CUT.findall(content)
    return replace(
        fetched,
        text=f"{reply}\n({'; '.join(cuts)})" if cuts else reply,
        values=(reply,),
        sure=not against,
        found=True,
        doubt=f"the language model's answer is {against}" if against else "",
        confidence=0.0 if against else 0.5,
        citations=fetched.citations or tuple(map(cite_table, tables)),
        reading=f"{fetched.reading}, answered by a language model".lstrip(", "),
    )


def _against(question: str, reply: Parsed, given: str) -> str:
    """Return what speaks against a reply in the pages and tables given; empty where nothing."""
    lines = [line for line in given.splitlines() if line.strip()]
    passages = [Passage(str(n), "", "", n, 0, len(line), line) for n, line in enumerate(lines)]
    evidence = Evidence(question, passages, None)
    for claim in reply.claims:
        support = evidence.support(claim.text, evidence.sharing(claim.text, _MOST_LINES))
        if not support.carried:
            why = evidence.unjudged(claim.text)
            return f"not checked: {why}" if why else f"not carried: {support.against}"
    return ""
