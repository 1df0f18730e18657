"""An answer or a mind map with its evidence, as one HTML page that needs no network.

Every text is escaped, there is no script, and the page's policy forbids it to load anything.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader

from kgp_neo4j.corpus.answer.shown_queries import browser_lines, queries_of
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.show.trees import map_tree, path_tree
from kgp_neo4j.show.view import AnswerView, marked_html, marked_sentence, marks_of
from kgp_neo4j.text.safe import cut, printable
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.mindmap import MindMap
from kgp_neo4j.types.tables import ShownQuery

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
_TEMPLATES.filters |= {
    "cut": cut,
    "file_name": lambda path: PurePath(path).name,
    "readable": readable,
}


def page_of(answer: Answer | MindMap) -> str:
    """Return an answer of either kind as one HTML page."""
    return mind_map_page(answer) if isinstance(answer, MindMap) else answer_page(answer)


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
        words = [
            line[2:].strip()
            for line in query.cypher.splitlines()[1:]
            if line.startswith("//") and not line.startswith(_HEADERS)
        ]
        lines = "\n".join(browser_lines(query)).strip()
        shown.append({"name": query.name, "description": " ".join(words), "lines": lines})
    return shown


def mind_map_page(answer: MindMap) -> str:
    """Return an answer as one HTML page: question, answer, picture, and the evidence in words."""
    return _TEMPLATES.get_template("mindmap.html").render(
        title=answer.question,
        answer=answer,
        drawn=map_tree(answer),
        rejected=answer.reply.edges if answer.reply and answer.reply.problem else (),
    )
