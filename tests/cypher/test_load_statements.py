"""A statement of cypher/load whose rows no load shows; tests/pipeline/test_load.py has the rest."""

import pytest
from graphs import rows
from small_graphs import document

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


def test_documents_make_passages_of_another_section_anew(database: Database, corpus: str) -> None:
    made = document(corpus, "a", "a", {"a1": "One. ", "a2": "Two. "})
    query = (
        "MATCH (p:Passage {corpus: $c}) WITH p ORDER BY p.position "
        "RETURN p.section AS section, p.embedding IS NOT NULL AS embedded"
    )
    found = []
    for section in (None, "A > B"):
        made["passages"][1]["section"] = section
        database.write("load/documents", corpus=corpus, scope="c0", rows=[made])
        found.append([tuple(row.values()) for row in rows(database, query, c=corpus)])
        rows(database, "MATCH (p:Passage {corpus: $c}) SET p.embedding = [1.0]", c=corpus)
    assert found == [[(None, False), (None, False)], [(None, True), ("A > B", False)]]
