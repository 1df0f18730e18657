"""Answers in a notebook: `frame(answer)` for pandas, `show(answer)` for the whole page.

A notebook shows some lines of an answer that ends a cell by itself. Needs the extra `notebook`.
"""

from html import escape
from typing import TYPE_CHECKING

from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.integrations.records import described
from kgp_neo4j.show.pages import page_of
from kgp_neo4j.types.corpus import Answer, Retrieval
from kgp_neo4j.types.mindmap import MindMap

if TYPE_CHECKING:
    import pandas as pd


def frame(found: Answer | Retrieval | MindMap) -> "pd.DataFrame":
    """Return the evidence as a pandas DataFrame, best first.

    Of an answer or a retrieval, a row for each passage with its text (`records.described`); of a
    mind map, one for each edge (head, relation, tail, status, note).
    """
    with needs("notebook", "a table of the evidence"):
        import pandas as pd
    if isinstance(found, MindMap):
        columns = ["head", "relation", "tail", "status", "note"]
        edges = [[getattr(edge, name) for name in columns] for edge in found.edges]
        return pd.DataFrame(edges, columns=columns)
    rows = [{**known, "text": passage.text} for passage, known in described(found)]
    return pd.DataFrame(rows)


def show(answer: Answer | MindMap, *, height: int = 700) -> None:
    """Show the page of an answer or a mind map, `height` pixels high; its frame runs no script."""
    with needs("notebook", "a page in a notebook"):
        from IPython.display import display
    framed = (
        f'<iframe sandbox="allow-popups" srcdoc="{escape(page_of(answer))}" '
        f'style="width:100%;height:{int(height)}px;border:0"></iframe>'
    )
    display({"text/html": framed, "text/plain": answer.text}, raw=True)  # type: ignore[no-untyped-call]
