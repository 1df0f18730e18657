"""What memory a graph needs, beside what the server has: on a corpus of a million by its counts."""

from typing import Any

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.room import measure_room
from kgp_neo4j.graphdb.server.supervise import ServerStatus

_GIBI = 2**30


class _Counting(Database):
    """A real database with one more corpus, of a million passages, in its counts alone."""

    def read(self, path: str, **values: Any) -> list[dict[str, Any]]:
        found = super().read(path, **values)
        if path == "inspect/embedded":
            large = {"name": "large", "corpus": True, "embeddings": 1_000_000, "dimension": 384}
            large["encoder"] = "any"
            return [large, *found]
        return found


def _status(**given: int) -> ServerStatus:
    return ServerStatus(True, "home", "password", "data", "5.26", **given)


def test_what_fits_is_not_told(database: Database) -> None:
    server = _status(store=_GIBI, page_cache=2048, heap=4096)
    room = measure_room(database, server, 24 * _GIBI)
    assert room.short == ()
    counted = sum(row["embeddings"] for row in database.read("inspect/embedded"))
    assert room.vectors >= counted * 4


def test_what_does_not_fit_is_told(database: Database) -> None:
    with _Counting(database.connection) as large:
        server = _status(store=9 * _GIBI, page_cache=4096, heap=4096)
        room = measure_room(large, server, 8 * _GIBI)
        assert 2 * _GIBI < room.vectors < 3 * _GIBI
        disk, vectors, hint = room.short
        assert "9.0 GiB on disk and the page cache holds 4.0 GiB" in disk
        assert "0.0 GiB are left" in vectors
        assert "--memory" in hint
        # A server of the user's own: its machine is not known.
        assert measure_room(large).short == ()
