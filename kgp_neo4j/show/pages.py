"""Answers and mind maps with their evidence, as an HTML page that needs no network or Markdown.

Every text is escaped: a page has no script, and its policy forbids it to load anything; in Markdown
nothing of others becomes a link, a picture or a heading.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import regex
from jinja2 import Environment, PackageLoader

from kgp_neo4j.corpus.answer.traces import browser_lines, queries_of
from kgp_neo4j.mindmap.link.name_forms import readable
from kgp_neo4j.show.trees import map_tree, path_tree
from kgp_neo4j.show.view import AnswerView, edge_note, label, marked_html, marked_sentence, marks_of
from kgp_neo4j.text.safe import as_markdown, cut, printable
from kgp_neo4j.types.corpus import Answer, Passage
from kgp_neo4j.types.mindmap import MapEdge, MindMap, Triple
from kgp_neo4j.types.tables import Citation, ShownQuery

#: Lines of a statement's header that describe it to programs.
_HEADERS = ("// mode:", "// task:", "// example:")
#: Texts are shown without control characters, and escaped after this; Markup is done already.
_TEMPLATES = Environment(
    loader=PackageLoader("kgp_neo4j.show"),
    autoescape=True,
    finalize=lambda value: printable(value) if type(value) is str else value,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Others may see a page: of a file it has the name alone.
_TEMPLATES.filters["file_name"] = lambda path: PurePath(path).name
_TEMPLATES.filters |= {"cut": cut, "readable": readable}


def page_of(answer: Answer | MindMap) -> str:
    """Return an answer of either kind as one HTML page, with its picture and evidence in words."""
    if isinstance(answer, Answer):
        return answer_page(answer)
    rejected = answer.reply.edges if answer.reply and answer.reply.problem else ()
    shown = {"answer": answer, "drawn": map_tree(answer), "rejected": rejected}
    return _TEMPLATES.get_template("mindmap.html").render(title=answer.question, **shown)


def answer_page(answer: Answer) -> str:
    """Return an answer as one HTML page with everything needed to check it, and nothing to load."""
    view, marked = AnswerView(answer), [(p, marks_of(answer, p)) for p in answer.passages]
    found = [(p, marks) for p, marks in marked if p.id in answer.rests_on or marks]
    found.sort(key=lambda each: each[0].id not in answer.rests_on)
    link = answer.browser or ""
    return _TEMPLATES.get_template("answer.html").render(
        title=answer.question,
        answer=answer,
        view=view,
        quoted=[(each, marked_sentence(answer, each)) for each in view.quoted],
        # A link of another kind (javascript:) would run something.
        link=link if urlsplit(link).scheme in ("http", "https") else "",
        structure_queries=_queries(view.structural.queries) if view.structural else [],
        marked=[(p, marked_html(p, marks)) for p, marks in found or marked[:1]],
        drawn=path_tree(answer),
        paged=any(passage.page is not None for passage in answer.passages),
        paths={path.last: path for path in answer.paths},
        queries=_queries(answer.queries or queries_of(answer)),
    )


def _queries(queries: Iterable[ShownQuery]) -> list[dict[str, Any]]:
    """Return queries with the description in their own header, and as lines for Browser."""
    shown = []
    for query in queries:
        header = [line for line in query.cypher.splitlines()[1:] if line.startswith("//")]
        words = [line[2:].strip() for line in header if not line.startswith(_HEADERS)]
        lines = "\n".join(browser_lines(query)).strip()
        shown.append({"name": query.name, "description": " ".join(words), "lines": lines})
    return shown


def markdown_of(answer: Answer | MindMap) -> str:
    """Return an answer of either kind as Markdown."""
    return answer_markdown(answer) if isinstance(answer, Answer) else map_markdown(answer)


_SIGNS_IN_ROWS = regex.compile(r"([`*_\[\]<>!])")
#: Passages and cells that are listed.
_SOURCES = 20


def answer_markdown(answer: Answer, address: str = "") -> str:
    """Return an answer as Markdown, with links to the documents on the page at `address`, if any.

    Its first line is the answer itself, and its sources stand in a list at its end.
    """
    view = AnswerView(answer)
    cited = view.cites(each for each in answer.rests_on if each in view.numbers)
    if answer.statements:
        said = answer.text
    elif answer.said:
        told = answer.said
        told = _rows(told) if answer.from_structure else f"**{as_markdown(told)}**"
        sure = f"({answer.probably})" if answer.probably else ""
        said = " ".join(filter(None, (told, cited, sure)))
    else:
        said = f"{as_markdown(answer.heading)}{'.' if answer.tier == 'none' else ':'}"
    parts = [said]
    for each in view.quoted:
        parts.append(f"> {view.lead}{as_markdown(each.text)} {view.cites([each.passage])}")
    if view.structural and view.structural.doubt:
        parts.append(as_markdown(view.structural.doubt))
    parts.append(_rows(view.table))

    def link(cited: Passage | Citation, **at: str) -> str:
        words = as_markdown(label(cited))
        at = {"document": cited.document, "corpus": answer.corpus, **at}
        return f"[{words}]({address}#{urlencode(at, quote_via=quote)})" if address else words

    cells, sources = view.cells[:_SOURCES], view.sources[:_SOURCES]
    parts.append("\n".join(f"- {link(cell)}: {as_markdown(cell.text)}" for cell in cells))
    parts += map(as_markdown, answer.notes)
    listed = (f"- {view.cites([each.id])}: {link(each, passage=each.id)}" for each in sources)
    parts.append("\n".join(listed))
    return "\n\n".join(filter(None, parts))


def _rows(text: str) -> str:
    """Return a text of several lines, of which nothing but its tables is Markdown."""
    return "\n".join(
        _SIGNS_IN_ROWS.sub(r"\\\1", line) if line.startswith("|") else as_markdown(line)
        for line in printable(text).splitlines()
    )


def map_markdown(made: MindMap) -> str:
    """Return a mind map as Markdown: its answer, and each edge with what it rests on."""
    facts = {triple.id: _edge(triple) for triple in made.reasoning.triples}
    found = {
        triple.id: f"{'on a path from' if each.kind == 'path' else 'around'} {each.entity}"
        for each in sorted(made.reasoning.evidence, key=lambda each: each.kind == "path")
        for triple in each.triples
    }
    lines = [*(f"Note: {as_markdown(note)}\n" for note in made.notices)]
    lines += [_rows(made.text or "The graph says nothing of this.")]
    lines += ["", "Mind map:", ""] if made.edges else []
    for edge in made.edges:
        own, told = _edge(edge), edge_note(edge)
        if edge.status == "grounded":
            rest = next((found[each] for each in edge.triples if each in found), "in the graph")
            others = [facts[each] for each in edge.triples if facts.get(each, own) != own]
            told = f"({'; '.join([rest, *others])})"
        lines.append(f"- {as_markdown(f'{own} {told}')}")
    return "\n".join(lines)


def _edge(fact: MapEdge | Triple) -> str:
    return f"{fact.head} – {readable(fact.relation)} → {fact.tail}"


_MARKUP = regex.compile(r"\[\d+\]|[*\\]|^> (?:Closest: )?")
_SOURCE = regex.compile(r"^- \[\d+\]: \[?(.+?)(?:, page \d[^,]*)?, passage \d+, ", regex.MULTILINE)


def read_answer(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what an answer's Markdown says first, and the titles of its sources."""
    lines = filter(None, (_MARKUP.sub("", line).strip() for line in text.splitlines()))
    said = (line.partition(" (probably")[0].strip() for line in lines if line[-1] != ":")
    titles = (_MARKUP.sub("", title).partition(" > ")[0] for title in _SOURCE.findall(text))
    return next(said, ""), tuple(dict.fromkeys(titles))
