"""Work that is awaited: limited, given up, ended on the server."""

import asyncio
from dataclasses import replace

import pytest
from graphs import rows

from kgp_neo4j.environment.job import Job, working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.serve.service import Work
from kgp_neo4j.types.errors import StoppedError

pytestmark = pytest.mark.newest

#: A statement that takes minutes.
_LONG = replace(
    statement("inspect/names"),
    text="UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS name",
)
_RUNNING = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.kgp_job = $job RETURN metaData"


@pytest.mark.parametrize("how", ["cancelled", "too long"])
def test_the_statement_of_a_job_given_up_ends_on_the_server(database: Database, how: str) -> None:
    async def run() -> None:
        job = Job(1.0 if how == "too long" else None)
        work = Work("test", database, 1, 0)
        task = asyncio.ensure_future(work.begin(job, lambda: database._run(_LONG, {}, "READ")))
        while not await asyncio.to_thread(rows, database, _RUNNING, job=job.id):
            await asyncio.sleep(0.02)
        if how == "cancelled":
            task.cancel()
        with pytest.raises((asyncio.CancelledError, StoppedError)):
            await task
        await asyncio.wait_for(asyncio.to_thread(work.close), 20)
        assert work.inside == 0
        assert not rows(database, _RUNNING, job=job.id)

    asyncio.run(run())


def test_end_job_returns_what_it_ended(database: Database) -> None:
    name = database.connection.database
    with database.driver.session(database=name) as session:
        running = session.begin_transaction(metadata={"kgp_job": "a test's"})
        running.run("RETURN 1").consume()
        assert database.read("inspect/end_job", job="another") == []
        (ended,) = database.read("inspect/end_job", job="a test's")
        assert ended["transaction"].startswith(name)
        assert ended["message"] == "Transaction terminated."
        running.close()


def test_work_for_nobody_ends_at_its_next_step(database: Database) -> None:
    job = Job()
    with working(job):
        assert database.read("inspect/names", label="KnowledgeGraph") is not None
        job.give_up()
        with pytest.raises(StoppedError, match="nobody waits"):
            database.read("inspect/names", label="KnowledgeGraph")
