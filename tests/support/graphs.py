"""Files to load, and looks at a whole graph as tests compare it: all but corpus and times."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database


def rows(database: Database, query: str, **values: Any) -> list[dict[str, Any]]:
    """Run a query of a test's own."""
    name = database.connection.database
    found = database.driver.execute_query(query, values, database_=name)
    return [record.data() for record in found.records]


def state_of(database: Database, corpus: str) -> dict[str, Any]:
    """Return what `inspect/corpus` says of a corpus."""
    return database.read("inspect/corpus", corpus=corpus)[0]


#: Properties that depend on the corpus or on the time.
_HIDDEN = {"id", "corpus", "scope", "document", "table", "fingerprint", "createdAt", "loadedAt"}


def snapshot(database: Database, corpus: str) -> dict[str, Any]:
    """Return all nodes and relationships of a corpus by what they hold, whatever its name."""
    nodes = rows(
        database,
        "MATCH (n) WHERE n.corpus = $corpus OR (n:Corpus AND n.name = $corpus) "
        "RETURN elementId(n) AS element, labels(n) AS labels, properties(n) AS properties",
        corpus=corpus,
    )
    scopes = {n["properties"]["scope"] for n in nodes if "scope" in n["properties"]}
    own = {corpus, *scopes, *(f"{scope.capitalize()}Passage" for scope in scopes)}

    def told(value: Any) -> Any:
        return "its own" if isinstance(value, str) and value in own else value

    names = {
        n["element"]: repr(
            (
                sorted(map(told, n["labels"])),
                sorted((k, told(v)) for k, v in n["properties"].items() if k not in _HIDDEN),
            )
        )
        for n in nodes
    }
    edges = rows(
        database,
        "MATCH (a)-[r]->(b) WHERE a.corpus = $corpus OR b.corpus = $corpus "
        "RETURN elementId(a) AS a, type(r) AS type, elementId(b) AS b",
        corpus=corpus,
    )
    return {
        "nodes": Counter(names.values()),
        "edges": Counter((names[e["a"]], e["type"], names[e["b"]]) for e in edges),
    }


def broken_documents(database: Database, corpus: str) -> list[dict[str, Any]]:
    """Return the documents of which not every passage is there, in one row from first to last."""
    return rows(
        database,
        """
        MATCH (d:Document {corpus: $corpus})
        OPTIONAL MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
        WITH d, p ORDER BY p.position
        WITH d, collect(p) AS ps
        WITH d, ps, reduce(at = 0, p IN ps | CASE WHEN p.start = at THEN p.end ELSE -1 END) AS last,
             [p IN ps | COUNT { (p)-[:NEXT]->() }] AS next
        WHERE last <> d.characters OR reduce(n = 0, x IN next | n + x) <> size(ps) - 1
           OR any(i IN range(0, size(ps) - 1) WHERE ps[i].position <> i)
           OR any(i IN range(1, size(ps) - 1) WHERE NOT EXISTS {
                WITH ps[i - 1] AS a, ps[i] AS b MATCH (a)-[:NEXT]->(b) })
        RETURN d.title AS title, last, d.characters AS characters, next
        """,
        corpus=corpus,
    )


TEXT = "".join(f"Sentence {n} tells of the number {n}. " for n in range(200))


def write_file(path: Path, data: str | bytes) -> Path:
    """Write a file, and the folder it is in; gzipped by the file's ending."""
    raw = data if isinstance(data, bytes) else data.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def write_lines(path: Path, *lines: Any) -> Path:
    """Write values as JSON, each in a line, and texts as they are."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    return write_file(path, "".join(f"{text}\n" for text in texts))


def write_jsonl(path: Path, *records: tuple[str, str]) -> Path:
    lines = (json.dumps({"title": t, "text": x}, ensure_ascii=False) for t, x in records)
    return write_lines(path, *lines)


def load_records(database: Database, corpus: str, folder: Path, *records: tuple[str, str]) -> None:
    """Load titles with texts, by a file in which others may have stood before."""
    load(database, [write_jsonl(folder / "records.jsonl", *records)], corpus)


def write_folder(path: Path) -> Path:
    notes = path / "notes"
    write_file(notes / "long_text.txt", TEXT)
    write_file(notes / "a.md", "# Astral 👍🏽 title\n\n" + "𝔘𝔫𝔦 你好. " * 300)
    write_file(notes / "page.html", "<title>Page</title><p>Some text.")
    write_jsonl(
        notes / "records.jsonl", ("One", "First."), ("One", "Second."), ("Two", "T. " * 900)
    )
    return notes


def stored_texts(database: Database, corpus: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows(
        database,
        "MATCH (p:Passage {corpus: $corpus}) RETURN p.document AS id, p.text AS text "
        "ORDER BY p.document, p.position",
        corpus=corpus,
    ):
        found[row["id"]] = found.get(row["id"], "") + row["text"]
    return found


def wrong_frequencies(database: Database, corpus: str) -> list[Any]:
    return rows(
        database,
        "MATCH (k:Keyword {corpus: $corpus}) WITH k, COUNT { (k)<-[:HAS_KEYWORD]-() } AS links "
        "WHERE links = 0 OR links <> k.documentFrequency RETURN k.text AS text, links "
        "UNION MATCH (e:NamedEntity {corpus: $corpus}) WHERE NOT EXISTS { (e)<-[:MENTIONS]-() } "
        "RETURN e.name AS text, 0 AS links",
        corpus=corpus,
    )
