"""Small documents with pages and tables, made in the tests and written as a loader would."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kgp_neo4j.corpus.load.contents import Blocks, markdown
from kgp_neo4j.corpus.load.ids import id_of
from kgp_neo4j.corpus.load.stored import write
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourcePage, SourceSection, SourceTable

_FARES = SourceTable(
    rows=(
        ("Route", "Single fare", "Crossings"),
        ("Kettlehaven", "4.50", "12"),
        ("Port Merrin", "6.00", "8"),
        ("Little Ruan", "3.20", "20"),
    ),
    caption="Table 1. Fares of the summer season",
    number="1",
)
_BOATS = SourceTable(
    rows=(
        ("Boat", "Built", "Route"),
        ("Sula", "1961", "Kettlehaven"),
        ("Gannet", "1988", "Port Merrin"),
    ),
    caption="Table 2. Boats in service",
    number="2",
)
_DEPTHS = SourceTable(rows=(("Quay", "Depth"), ("North", "4.1"), ("South", "5.5")))


def paged(
    title: str,
    source: str,
    pages: Sequence[Sequence[str | SourceTable]],
    labels: Sequence[str] = (),
    header: str = "",
    footer: str = "",
) -> SourceDocument:
    """Return a document of pages of paragraphs and tables; without a full stop one is a heading."""
    blocks, spans, sections = Blocks(), [], []
    for number, parts in enumerate(pages, 1):
        start = blocks.length
        for part in parts:
            at = blocks.length
            if isinstance(part, SourceTable):
                blocks.add(markdown(part))
                place = {"start": at, "end": blocks.length - 2}
                row_pages = (number,) * len(part.rows)
                blocks.tables.append(replace(part, row_pages=row_pages, **place))
            else:
                blocks.add(part)
                sections += [] if part.endswith(".") else [SourceSection(part, 1, at)]
        label = labels[number - 1] if labels else ""
        below = f"{footer} {number}" if footer else ""
        spans.append(SourcePage(number, start, blocks.length, label, header, below))
    text = f"{blocks.text}\n\n"
    found = blocks.document(source, title, pages=tuple(spans), sections=tuple(sections))
    return replace(found, text=text)


def ferries() -> SourceDocument:
    """Return a timetable of four pages with two tables, both with printed numbers."""
    return paged(
        "Sound ferries",
        "/made/ferry-timetable-1996.pdf",
        [
            [
                "Ferries of the Sound",
                "The ferries cross the Sound every day. The harbour master sells the tickets. "
                "Dogs travel free.",
            ],
            [
                "Fares",
                "The fares below are those of the summer. Children pay half of them.",
                _FARES,
                "Bicycles cost one pound more.",
            ],
            ["Boats", "Two boats are in service.", _BOATS, "Both were built at Lindqvist Yard."],
            [
                "Complaints",
                "Write to the harbour master with any complaint. He answers within a week.",
            ],
        ],
        labels=("i", "ii", "1", "2"),
        header="Timetable 1996",
        footer="Merrin Sound Ferries",
    )


def harbours() -> SourceDocument:
    """Return a survey of two pages, with one table that has no number and no caption."""
    return paged(
        "Harbour survey",
        "/made/survey.pdf",
        [
            ["The survey was made at low tide.", _DEPTHS],
            ["The harbour master of Ardfin asked for it."],
        ],
    )


def store(database: Database, corpus: str, *documents: SourceDocument) -> Counter[str]:
    """Write documents as loading files does; return what is counted."""
    batch = {id_of(corpus, document.source, ""): document for document in documents}
    return write(database, corpus, batch, None, "english")
