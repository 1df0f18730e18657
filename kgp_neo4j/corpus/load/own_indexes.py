"""Gives each corpus indexes of its own, so that no other corpus changes its search."""

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.text.language import OTHER

#: Passages from which a corpus has an index of its vectors, too. Those of a smaller one are
#: compared one by one, which takes 20 ms for so many; it keeps its language's label beside its own.
LARGE = 500


def make_own_indexes(database: Database, corpus: str) -> None:
    """Give the corpus the indexes that it should have; what was cut short before is finished."""
    state = next(iter(database.read("load/own_indexes_state", corpus=corpus, large=LARGE)), None)
    if state is None:
        return
    chosen = {"corpus": corpus, "own": True, "small": not state["large"]}
    grown = state["small"] and state["large"]
    if state["own"] and not (state["moving"] or grown or state["cjk"]):
        return
    if not state["own"] or grown or state["cjk"]:
        database.write_in_batches("load/label_passages", corpus=corpus)
        make_indexes(database, corpus, vectors=state["large"])
        database.read("install/await_indexes")
        database.write("load/choose_indexes", **chosen, moving=True)
    # Again, for what others loaded before the choice.
    database.write_in_batches("load/label_passages", corpus=corpus)
    database.write("load/choose_indexes", **chosen)


def make_indexes(database: Database, corpus: str, *, vectors: bool = True) -> None:
    """Make the corpus's own indexes of text and `vectors`, if any; they are online a bit later."""
    for state in database.read("load/index_state", corpus=corpus):
        scope = state["scope"]
        make_text_index(database, scope, state["language"])
        if state["cjk"]:
            make_text_index(database, cjk_shelf(scope), "cjk")
        if vectors and state["indexed"]:
            index, name = statement("load/vector_index"), f"kgp_vectors_{scope}"
            database.define(index, name=name, label=passage_label(scope))


def make_text_index(database: Database, shelf: str, language: str) -> None:
    """Make the full-text index of a shelf's passages, by their language's analyzer, if any."""
    database.define(
        statement("load/text_index"),
        name=f"kgp_passage_{shelf}",
        label=passage_label(shelf),
        analyzer="standard-no-stop-words" if language == OTHER else language,
    )


def drop_indexes(database: Database, corpus: str) -> None:
    """Drop the indexes of the corpus's own, also those of an import that was cut off."""
    for state in database.read("load/index_state", corpus=corpus):
        scope = state["scope"]
        for index in (f"passage_{scope}", f"passage_{cjk_shelf(scope)}", f"vectors_{scope}"):
            database.define(statement("load/drop_index"), name=f"kgp_{index}")


def cjk_shelf(scope: str) -> str:
    """Return the shelf of a corpus's passages in Chinese, Japanese or Korean."""
    return f"{scope}Cjk"


def passage_label(shelf: str) -> str:
    """Return the label of the passages that an index is of: of a corpus's own, or a language's."""
    return f"{shelf[:1].upper()}{shelf[1:]}Passage"
