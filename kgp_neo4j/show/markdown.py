"""Answers and mind maps as Markdown, for chats and for the history.

Texts of others are escaped: nothing in them becomes a link, a picture or a heading.
"""

from urllib.parse import quote, urlencode

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.show.view import AnswerView, edge_note, label
from kgp_neo4j.text.safe import as_markdown, printable
from kgp_neo4j.types.corpus import Answer, Passage
from kgp_neo4j.types.mindmap import MapEdge, MindMap, Triple
from kgp_neo4j.types.tables import Citation

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
