"""Gives a large corpus indexes of its own, so that no other corpus changes its search."""

from __future__ import annotations

from kgp_neo4j.graphdb.database import Database

__all__ = ["LARGE", "drop_own_indexes", "make_own_indexes"]

#: Passages from which a corpus has indexes of its own. Vectors of a smaller one are compared one by
#: one, which takes 20 ms for so many; each index is open as long as the server runs.
LARGE = 500


def make_own_indexes(database: Database, corpus: str) -> None:
    """Give the corpus indexes of its own once it is large; what was cut short before is finished.

    Passages that others load meanwhile are in an index at any time, and in the new one at the end.
    """
    [state] = database.read("load/own_indexes_state", corpus=corpus, large=LARGE)
    if not state["large"] or (state["own"] and not state["moving"]):
        return
    if not state["own"]:
        database.write_in_batches("load/label_passages", corpus=corpus)
        database.make_indexes("load/own_indexes", corpus=corpus)
        database.read("install/await_indexes")
        database.write("load/choose_indexes", corpus=corpus, own=True, moving=True)
    # Again, for what others loaded before the choice.
    database.write_in_batches("load/label_passages", corpus=corpus)
    database.write("load/choose_indexes", corpus=corpus, own=True)


def drop_own_indexes(database: Database, corpus: str) -> None:
    """Drop the corpus's own indexes where it has some, before it is deleted."""
    [state] = database.read("load/own_indexes_state", corpus=corpus, large=LARGE)
    # A large one may have been cut short between making its indexes and choosing them.
    if state["own"] or state["moving"] or state["large"]:
        database.write("load/choose_indexes", corpus=corpus, own=False, moving=True)
        database.write_in_batches("load/drop_own_indexes", corpus=corpus)
