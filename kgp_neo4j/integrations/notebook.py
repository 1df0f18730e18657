"""Answers in a notebook: `frame(answer)` for pandas, `show(answer)` for the whole page.

A notebook shows an answer by itself when a cell ends with it. Needs the extra `notebook`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kgp_neo4j.answer import explanation, mindmap
from kgp_neo4j.answer.mindmap import MindMap
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.integrations.passages import described
from kgp_neo4j.records import Answer, Retrieval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame", "show"]

_HINT = 'Install it: pip install "kgp-neo4j[notebook]".'


def frame(found: Answer | Retrieval | MindMap) -> pd.DataFrame:
    """Return the evidence as a pandas DataFrame, best first.

    Of an answer or a retrieval, a row for each passage (rank, id, title, document, source, page,
    position, start, end, score, path, edges, reason, text); of a mind map, one for each edge (head,
    relation, tail, status, note).
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ConfigurationError("pandas is not installed", hint=_HINT) from error
    if isinstance(found, MindMap):
        columns = ["head", "relation", "tail", "status", "note"]
        edges = [[getattr(edge, name) for name in columns] for edge in found.edges]
        return pd.DataFrame(edges, columns=columns)
    rows = [{**known, "text": passage.text} for passage, known in described(found)]
    return pd.DataFrame(rows)


def show(answer: Answer | MindMap, *, height: int = 700) -> None:
    """Show the whole page of an answer or a mind map in the notebook, `height` pixels high.

    The page stands in a frame of its own that runs no script.
    """
    try:
        from IPython.display import display
    except ImportError as error:
        raise ConfigurationError("IPython is not installed", hint=_HINT) from error
    made = mindmap.page(answer) if isinstance(answer, MindMap) else explanation.page(answer)
    framed = (
        f'<iframe sandbox="allow-popups" srcdoc="{escape(made)}" '
        f'style="width:100%;height:{int(height)}px;border:0"></iframe>'
    )
    display({"text/html": framed, "text/plain": answer.text}, raw=True)  # type: ignore[no-untyped-call]
