"""Corpora and knowledge graphs that are awaited: side by side, limited, given up."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from graphs import rows

from kgp_neo4j import AsyncCorpus, AsyncKnowledgeGraph
from kgp_neo4j.demo import QUESTION, TABLE_QUESTION
from kgp_neo4j.environment.job import Job, working
from kgp_neo4j.graphdb.async_store import awaited, begun_in
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.errors import StoppedError

#: A statement that takes minutes.
_LONG = replace(
    statement("inspect/names"),
    text="UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS name",
)
_RUNNING = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.kgp_job = $job RETURN metaData"


@pytest.mark.alone
def test_questions_are_answered_side_by_side(database: Database, demo_graph: str) -> None:
    async def ask() -> None:
        async with (
            AsyncCorpus(demo_graph, database=database, seconds=60) as corpus,
            AsyncKnowledgeGraph(demo_graph, database=database) as graph,
        ):
            first, table, mapped, listed = await asyncio.gather(
                corpus.ask(QUESTION),
                corpus.ask(TABLE_QUESTION),
                graph.ask("I feel tired and dizzy. What can it be?"),
                corpus.documents(),
            )
            assert "grandmother" in first.text
            assert table.structural is not None
            assert mapped.edges
            assert listed
            told = [event async for event in corpus.stream(QUESTION)]
            assert [name for name, _ in told] == ["hop", "hop", "hop", "passages", "answer"]
            assert told[-1][1].text == first.text
            assert told[-2][1].passages == first.passages

    asyncio.run(ask())


def test_a_question_may_take_only_so_long(database: Database, demo_corpus: str) -> None:
    async def ask() -> None:
        async with AsyncCorpus(demo_corpus, database=database, seconds=0.0001) as corpus:
            with pytest.raises(StoppedError, match=r"longer than the 0\.0001 s"):
                await corpus.ask(QUESTION)

    asyncio.run(ask())


@pytest.mark.parametrize("how", ["cancelled", "too long"])
def test_the_statement_of_a_job_that_is_given_up_ends_on_the_server(
    database: Database, how: str
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    async def run() -> None:
        job = Job(1.0 if how == "too long" else None)
        with ThreadPoolExecutor(1) as threads:
            future = begun_in(threads, job, lambda: database._run(_LONG, {}, "READ"))
            task = asyncio.ensure_future(awaited(future, job, lambda: database))
            while not await asyncio.to_thread(rows, database, _RUNNING, job=job.id):
                await asyncio.sleep(0.02)
            if how == "cancelled":
                task.cancel()
            with pytest.raises((asyncio.CancelledError, StoppedError)):
                await task
            with pytest.raises(StoppedError):
                future.result(20)
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
