"""Read a structural question once, and answer it by a look-up, a plan over a table, or a model.

KGP answers a question about structure by fetching the page or table that it names (Wang et al.,
AAAI 2024, "LLM-based KG traversal agent"). Here a question is first read as one of a few look-ups;
most need no language model.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath
from typing import Annotated, Literal

import msgspec

from kgp_neo4j.corpus.answer.check import Evidence, Parsed, parse_reply
from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables import look_up, pages, tables
from kgp_neo4j.corpus.tables.choose import choose
from kgp_neo4j.corpus.tables.look_up import KINDS, Context, LookUp, resolve
from kgp_neo4j.corpus.tables.outline import (
    STOP,
    Cell,
    Grid,
    Library,
    TableOutline,
    TableRow,
    cite_cell,
    cite_table,
    named_documents,
)
from kgp_neo4j.corpus.tables.questions.cell_links import Links, link
from kgp_neo4j.corpus.tables.questions.figures import asks_for_figure, read_figure
from kgp_neo4j.corpus.tables.questions.plans import Plan, Rows, columns_of, denotation, in_words
from kgp_neo4j.corpus.tables.questions.ranker import Candidate, candidates, load_ranker
from kgp_neo4j.corpus.tables.references import (
    COUNT,
    HEAD,
    TABLE_ID,
    References,
    TableRef,
    read_references,
)
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import without_reasoning
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.corpus import Passage, Write
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

_LOOK_UPS: dict[str, Callable[[look_up.Context], StructuralAnswer | None]] = {
    "page": pages.look_up,
    "table": tables.look_up,
    **dict.fromkeys(("column", "row", "cell"), tables.look_up_part),
    "tables": tables.look_up_list,
    "mentions": pages.look_up_mentions,
    "count": tables.count,
    "compare": pages.compare,
}
#: Tables that a question may be answered from, one after another.
_MOST_ANSWERED = 4


class Reading:
    """A question read once, by its words or a model; `decision` says if it is about structure."""

    def __init__(self, database: Database, corpus: str, question: str) -> None:
        library = Library(database, corpus)
        references = read_references(question, library.documents)
        self._context = look_up.resolve(library, references, choose(references))
        self._chosen: look_up.Context | None = None
        self.decision = _decided(self._context)

    @cached_property
    def by_words(self) -> StructuralAnswer:
        """The answer by the question's words alone; where it is sure, no model need choose."""
        return _answered(self._context, None)

    def ask(self, write: Write) -> None:
        """Let a language model choose the look-up and the type of the question."""
        self.decision, self._chosen = choose_by_model(self._context, write, self.decision)

    def answer(self, write: Write | None = None) -> StructuralAnswer:
        """Answer from pages and tables, by read-only queries that are shown.

        A model answers from them what no look-up does; without one such questions stay unsure. If
        the look-up that it chose gives nothing, the words' one answers.
        """
        context = self._chosen or self._context
        result = _answered(context, write) if write else self.by_words
        if self._chosen is not None and not (result.found and result.sure):
            other = _answered(self._context, write)
            if not result.text or (other.found and other.sure):
                context, result = self._context, other
        if notes := "; ".join(dict.fromkeys(context.notes)):
            reading = f"{result.reading} ({notes})" if result.reading else notes
            result = replace(result, reading=reading)
        return replace(result, queries=tuple(context.library.queries))


def _answered(context: look_up.Context, write: Write | None) -> StructuralAnswer:
    look = context.look_up
    if not context.documents:
        return look_up.nothing("The corpus has no pages and no tables.")
    if context.missing:
        return look_up.nothing(" ".join(dict.fromkeys(context.missing)))
    if context.doubt and context.references.tables:
        return look_up.unsure(context.doubt)
    if look.kind != "question" and (result := _LOOK_UPS[look.kind](context)) is not None:
        # A page or table is shown as it is: a language model may do more with it.
        if write and result.markdown:
            return answered_by_model(context, write, result) or result
        return result
    if context.tables:
        return _from_tables(context, context.tables, write)
    if context.pages:
        return _from_pages(context, write)
    if context.figure is not None and context.figure.sure:
        return context.figure
    # The question names no table: the one that its words fit.
    every = context.library.tables(context.documents)
    if fitting := look_up.by_words(context.library, context.references.rest, every, only=True):
        return _from_tables(context, fitting, write)
    many = look_up.plural(len(every), "table")
    return look_up.unsure(f"the question names no page or table that could be told ({many} there)")


def _from_tables(
    context: look_up.Context, named: list[TableOutline], write: Write | None
) -> StructuralAnswer:
    """Answer a question within one table by the table parser, then by a model if there is one."""
    if len(named) > 1 and not context.named:
        names = look_up.joined([table.called for table in named[:9]])
        return look_up.unsure(f"several tables fit: {names}; name the document")

    def one(table: TableOutline) -> StructuralAnswer:
        result = answer_from_table(context.library, table, context.references.rest)
        if not result.sure:
            result = replace(result, markdown=context.library.markdown(table))
            if write:
                result = answered_by_model(context, write, result, tables=[table]) or result
        text = f"{table.called}: {result.text}" if len(named) > 1 else result.text
        return replace(result, text=text, reading=f"in {table.called}: {result.reading}")

    return look_up.each(context, named[:_MOST_ANSWERED], one)


def _from_pages(context: look_up.Context, write: Write | None) -> StructuralAnswer:
    """Answer a free question about pages: by their only table, by a model, or by showing them."""
    there = context.on_pages(context.library.tables([d for d, _ in context.pages]))
    if len(there) == 1 and (result := _from_tables(context, there, None)).sure:
        return result
    context.look_up = replace(context.look_up, part="text")
    shown = pages.look_up(context)
    if write and shown.found and (answer := answered_by_model(context, write, shown)):
        return answer
    doubt = "the page is shown; to answer this from its text needs a language model"
    return replace(shown, text="", values=(), sure=False, confidence=0.0, doubt=doubt)


def _figure(context: look_up.Context) -> StructuralAnswer | None:
    """Return the figure over a table's rows that a question asks for without naming one, if any."""
    references, library = context.references, context.library
    named = references.tables or references.pages or references.quoted
    many = sum(document.tables for document in context.documents) > _MOST_TABLES
    kind = context.look_up.kind
    if named or many or kind != "question" or not asks_for_figure(references.rest):
        return None
    fitting = look_up.by_words(library, references.rest, library.tables(context.documents))
    found = [
        replace(each, reading=f"in {table.called}: {each.reading}")
        for table in fitting[:_MOST_ANSWERED]
        if (each := answer_from_table(library, table, references.rest, strict=True)).computes
    ]
    found.sort(key=lambda each: (-each.sure, -each.confidence))
    if len({each.values for each in found if each.sure}) > 1:
        names = look_up.joined([table.called for table in fitting[:_MOST_ANSWERED]])
        return replace(look_up.unsure(f"several tables fit: {names}; name the one"), computes=True)
    return found[0] if found else None


#: Tables that are searched at most for columns that a question names.
_MOST_TABLES = 500
_DETERMINER = r"(?:the|this|that|each|every|which|what|how\s+many|all|any|list)"
_NOUN = r"(?:pages?|tables?|columns?|rows?|cells?|captions?|footers?|headings?|headers?|footnotes?)"
#: A structural noun as the head of its phrase: "on the last page", not "the table tennis club".
_SPOKEN_OF = re.compile(
    rf"(?i)\b(?:on|in|from|of|to|under|at|using|per)\s+{_DETERMINER}\s+"
    rf"(?:(?!of\b|the\b)[\w'’-]+\s+){{0,3}}?{_NOUN}\b{HEAD}"
    rf"|\b(?:which|what|how\s+many|list|all|every|each|this)\s+(?:of\s+)?(?:the\s+)?{_NOUN}\b{HEAD}"
)
_RANKING = re.compile(
    r"(?i)\b(?:\w{3,}est|most|least|maximum|minimum|average|mean|total|sum|median|how\s+m\w+|"
    r"number\s+of|percentage|more|less|top|first|last|difference|value|list|rank\w*|which|"
    r"what\s+(?:is|was|are|were))\b"
)
_CONTENT = re.compile(
    r"(?i)\b(?:why|explain|reason|purpose|meaning|opinion|think|describe|argue\w*|suggest\w*|"
    r"summar\w+|who)\b"
)


def _decided(context: look_up.Context) -> TypeDecision:
    """Return whether a question is about structure, content or both, by its words; offline."""
    references, look = context.references, context.look_up
    reason = _sign(context)
    figure = context.figure = _figure(context)
    if figure is not None and figure.sure:
        return TypeDecision("structural", reason="asks for a figure over the rows of a table")
    if not reason:
        may = figure is not None
        told = "may ask for a figure over the rows of a table" if may else "no sign of structure"
        return TypeDecision("both" if may else "content", reason=told)
    free = not references.tables or bool(_CONTENT.search(references.plain))
    both = free and look.kind == "question"
    return TypeDecision("both" if both else "structural", reason=reason)


def _sign(context: look_up.Context) -> str:
    """Return what shows that a question is about pages or tables; empty where nothing does."""
    references, look = context.references, context.look_up
    if references.pages:
        return "names a page"
    if references.tables:
        library, every = context.library, context.library.tables(context.documents)
        if any(not t.words or look_up.by_words(library, t.words, every) for t in references.tables):
            return "names a table"
    elif look.kind != "question" and (look.part != "times" or references.documents):
        return f"asks for a look-up of {look.kind}"
    if _SPOKEN_OF.search(references.plain):
        return "speaks of pages, tables, rows or columns"
    # Or it ranks or counts by columns that a table has.
    if not _RANKING.search(references.plain):
        return ""
    documents = context.library.documents
    if sum(document.tables for document in documents) > _MOST_TABLES:
        documents = tuple(references.documents)
    phrases = look_up.phrases_of(references.plain)
    counts = re.search(rf"\b(?:{COUNT})\b", references.plain, re.IGNORECASE)
    for table in context.library.tables(documents):
        norms = {column.norm for column in table.columns if len(column.norm) > 2}
        named = sorted(norm for norm in norms if norm in phrases or f"{norm}s" in phrases)
        if len(named) > 1 or (named and (references.documents or counts)):
            return f"names columns of {table.name}: {', '.join(named)}"
    return ""


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


#: Rows of a long table that are enough to read a question, and cells that an answer cites at most.
_READ, _CITED = 500, 50
#: Probability of a figure that every word leads to, and where one word more or less may be meant;
#: most of a figure that a word of the question may narrow down.
_SURE, _NEAR, _UNCLEAR = 0.95, 0.7, 0.45
#: From which probability on another reading makes a figure that every word leads to unsure.
_OTHERWISE = 0.6


def answer_from_table(
    library: Library, table: TableOutline, question: str, *, strict: bool = False
) -> StructuralAnswer:
    """Answer a question from one table.

    The question is read as a plan, a figure over rows that each of its words leads to or else the
    ranker's best, and run on the rows that a read-only query returns. Where the reading is
    uncertain, `values` has the result, but `text` claims nothing unless it is probable, and `doubt`
    is the reason. A `strict` reading of a figure gives nothing where a word is left over.
    """
    # Of a long table only the first rows and those with some of the question's words are read.
    words = [word for word in normal(question).split() if word not in STOP]
    rows = library.rows(table, words=words, limit=_READ)
    grid = _grid(table, rows)
    links = link(question, grid)
    names = f"{table.caption} {table.document.title} {PurePath(table.document.source).stem}"
    figure = read_figure(links, grid, map(stem, normal(names).split()))
    fits = figure is not None and figure.fits
    none = "No reading of the question fits this table."
    answer = StructuralAnswer("", doubt=none, confidence=0, computes=fits)
    if strict and not fits:
        return answer
    if figure and (figure.near or not figure.why):
        plan = figure.plan
        answer = _own_total(table, plan, grid, rows) or run(library, table, rows, plan)
        sure = not (figure.why or (answer.values and _denies(links, grid, plan, answer.values)))
        answer = replace(answer, confidence=_SURE if sure else _NEAR, computes=True)
        if sure and answer.values:
            return answer
    elif learned := _learned(links, grid):
        threshold = load_ranker().threshold
        best, confidence = learned
        if figure and (strict or best.plan.kind not in ("select", "exists")):
            confidence = min(confidence, _UNCLEAR if strict else threshold - 0.01)
        answer = run(library, table, rows, best.plan)
        computes = answer.computes or fits
        answer = replace(answer, confidence=round(confidence, 3), computes=computes)
        if confidence >= threshold and answer.values:
            return answer
    why = figure.why if figure else ""
    doubt = answer.doubt or (
        f"The question may mean: {answer.reading}; that reading is right with a probability of "
        f"{answer.confidence:.0%} only{f' ({why})' if why else ''}."
    )
    unsure = replace(answer, sure=False, doubt=doubt)
    text = f"It is not certain what is asked of {table.name}; see the table."
    return unsure if unsure.probable else replace(unsure, text=text)


def _learned(links: Links, grid: Grid) -> tuple[Candidate, float] | None:
    """Return the likeliest of the readings that the ranker knows, with its probability."""
    readings = candidates(links, grid)
    return load_ranker().judge(links, grid, readings) if readings else None


def _denies(links: Links, grid: Grid, plan: Plan, values: Sequence[str]) -> bool:
    """Return whether the learned reading, by as many conditions, is sure of another value."""
    if plan.group or not (learned := _learned(links, grid)):
        return False
    best, confidence = learned
    told = len(best.plan.rows.conditions) >= len(plan.rows.conditions)
    return told and {*best.result.values} != {*values} and confidence >= _OTHERWISE


def _own_total(
    table: TableOutline, plan: Plan, grid: Grid, rows: Sequence[TableRow]
) -> StructuralAnswer | None:
    """Return the figure of a whole column that the table's own row of totals gives, if it does."""
    if plan.group or plan.rows != Rows() or not plan.column:
        return None
    column = grid.columns[plan.column - 1]
    for at, kind in reversed([*grid.totals.items()]):
        cell = grid.rows[at][plan.column - 1]
        if kind == plan.kind and cell.value is not None:
            place = cite_cell(table, rows[at], column, cell.text)
            reading = f"{in_words(plan, grid)}, as row {rows[at].number} gives it"
            return StructuralAnswer(cell.text, (cell.text,), citations=(place,), reading=reading)
    return None


def _grid(table: TableOutline, rows: Sequence[TableRow], columns: Sequence[int] = ()) -> Grid:
    """Return rows as a grid; where they have the cells of some columns alone, others are empty."""
    orders = columns or [column.order for column in table.columns]
    cells = [dict(zip(orders, row.cells, strict=True)) for row in rows]
    lines = [tuple(line.get(c.order, Cell("", "")) for c in table.columns) for line in cells]
    totals = {at: row.total for at, row in enumerate(rows) if row.total}
    return Grid(table.columns, tuple(lines), tuple(row.number for row in rows), totals)


def run(
    library: Library, table: TableOutline, rows: Sequence[TableRow], plan: Plan
) -> StructuralAnswer:
    """Run a plan on all rows of a table and return its values, with their cells."""
    columns: Sequence[int] = ()
    if len(rows) < table.rows:
        columns = columns_of(plan) or [1]
        rows = library.rows(table, columns=columns, limit=table.rows)
    grid = _grid(table, rows, columns)
    result = denotation(grid, plan)
    column = grid.columns[plan.column - 1] if plan.column else None
    citations = [
        cite_cell(table, rows[at], column, grid.rows[at][plan.column - 1].text if column else "")
        for at in result.rows[:_CITED]
    ]
    return StructuralAnswer(
        result.text or ", ".join(result.values),
        values=result.values,
        reading=in_words(plan, grid),
        citations=tuple(citations) or (cite_table(table),),
        computes=plan.kind not in ("select", "exists") or plan.rows.pick is not None,
    )
