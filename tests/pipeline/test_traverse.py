"""Algorithm 1 on real graphs: budget, branching, edges, paths, agents, and the database's own."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from graphs import load_records, rows
from small_graphs import lighthouse, short

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.retrieve import PassageRetriever, make_agent
from kgp_neo4j.corpus.traverse.agents.search import KnnAgent, TfidfAgent
from kgp_neo4j.corpus.traverse.algorithm import Agent, NextEvidenceAgent, read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.corpus import NextEvidence, Passage, Question, ReasoningPath
from kgp_neo4j.types.errors import ConfigurationError, CorpusError
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings, traversal_settings

_QUESTIONS = (
    "Where was the designer of Ardfin Lighthouse born?",
    "Which wreck was the reason for a new light?",
    "Who wrote the book about winters, and where was he born?",
    "What breed of pony is kept on the island, and who sold it?",
    "zebra quagga okapi",
)


class _Writing(TfidfAgent):
    """An agent that writes the same text every time, and may have a vector of it too."""

    writes_text = True

    def __init__(self, text: str, vector: list[float] | None = None) -> None:
        super().__init__()
        self._evidence = NextEvidence(text=text, vector=vector)

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        return [self._evidence] * len(paths)


def _names(paths: Sequence[ReasoningPath]) -> list[str]:
    return [short(path.last) for path in paths]


def _walk(
    database: Database, corpus: str, question: str, agent: Agent | None = None, **settings: int
) -> list[ReasoningPath]:
    walker = agent or TfidfAgent()
    return walker.walk(database, corpus, question, TraversalSettings(**settings))


@pytest.fixture(scope="module")
def knn(encoder: Encoder) -> KnnAgent:
    return KnnAgent(encoder)


@pytest.fixture(params=["tfidf", "knn"])
def agent(request: pytest.FixtureRequest, knn: KnnAgent) -> Agent:
    """Each agent in turn."""
    return knn if request.param == "knn" else TfidfAgent()


@pytest.mark.parametrize("question", _QUESTIONS)
def test_budget(database: Database, demo_corpus: str, agent: Agent, question: str) -> None:
    (state,) = database.read("inspect/corpus", corpus=demo_corpus)
    for budget in (1, 9, 30):
        paths = _walk(database, demo_corpus, question, agent, budget=budget)
        visited = [path.last for path in paths]
        assert len(visited) <= budget
        assert len(set(visited)) == len(visited)
        assert all(len({step.passage for step in p.steps}) == len(p.steps) for p in paths)
        assert all(len(path.steps) <= 3 for path in paths)
        if agent.name == "knn":
            assert len(visited) == min(budget, state["passages"])


@pytest.mark.parametrize("question", _QUESTIONS)
def test_paths_are_paths_in_the_graph(
    database: Database, demo_corpus: str, agent: Agent, question: str
) -> None:
    paths = _walk(database, demo_corpus, question, agent, seeds=3, hops=3)
    assert all(path.steps[0].edge == "seed" for path in paths)
    steps = [pair for path in paths for pair in pairwise(path.steps)]
    assert all(step.reason for _, step in steps)
    found = rows(
        database,
        "UNWIND $pairs AS pair MATCH (:Passage {id: pair[0]})-[e]-(:Passage {id: pair[1]}) "
        "RETURN DISTINCT pair, type(e) AS type",
        pairs=[[before.passage, step.passage] for before, step in steps],
    )
    joined = {(*row["pair"], row["type"]) for row in found}
    assert {(before.passage, step.passage, step.edge) for before, step in steps} <= joined
    assert steps or "zebra" in question


@pytest.mark.parametrize("kind", ["SHARES_KEYWORD", "SIMILAR_ST", "NEXT"])
def test_edges_are_limited(database: Database, demo_corpus: str, agent: Agent, kind: str) -> None:
    settings = TraversalSettings(seeds=2, edges=(kind,))
    paths = agent.walk(database, demo_corpus, _QUESTIONS[0], settings)
    edges = {step.edge for path in paths for step in path.steps}
    assert edges <= {"seed", kind}
    if kind != "NEXT":
        assert kind in edges


def test_a_random_walk_is_that_of_its_seed(database: Database, demo_corpus: str) -> None:
    def drawn(seed: int) -> list[str]:
        agent = make_agent("random", None, AgentSettings(seed=seed))
        paths = _walk(database, demo_corpus, _QUESTIONS[0], agent, seeds=2, budget=8)
        return [path.last for path in paths]

    assert drawn(0) == drawn(0)
    assert any(drawn(seed) != drawn(0) for seed in range(1, 6))


def test_the_budget_is_shared_out_among_hops(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    question = "Who designed the light, and where was its designer born?"
    found = _walk(database, corpus, question, seeds=1, budget=3, hops=2)
    # One seed, and one passage of each hop: a2 gives way to c1.
    assert sorted(_names(found)) == ["a1", "b1", "c1"]
    assert "d1" not in _names(_walk(database, corpus, question, seeds=1, hops=2))
    assert "d1" in _names(_walk(database, corpus, question, seeds=1, hops=3))


def test_a_pair_joined_twice_takes_one_slot(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    # a1 and a2 are joined by three edges; with two slots b1 still has one.
    found = _walk(database, corpus, "Who designed the light?", branching=2, hops=1)
    assert sorted(_names(found)) == ["a1", "a2", "b1"]


def test_a_title_leads_to_a_passage_that_search_misses(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    query = "MATCH (k:Keyword {corpus: $c, text: 'new york'}) SET k.text = 'big apple'"
    rows(database, query, c=corpus)
    found = _walk(database, corpus, "Is the Big Apple large?", hops=0)
    assert [(short(p.last), p.steps[0].reason) for p in found] == [("e1", "title")]


_BRIDGE = (
    ("Grey Tower", "Grey Tower is a tall building. Its architect was Mabel Quist."),
    ("Mabel Quist", "Mabel Quist grew up at Ostrow Farm."),
    ("Ostrow Farm", "Sheep breeders keep it nowadays."),
    ("Red Tower", "Red Tower is a tall building, the work of a city architect."),
    ("Blue Tower", "Blue Tower is a tall building. An architect lived there."),
)


def test_the_graph_alone_finds_the_bridge(database: Database, corpus: str, tmp_path: Path) -> None:
    load_records(database, corpus, tmp_path, *_BRIDGE)
    connect(database, corpus, edges=["tfidf"])
    question = Question("q", "Who runs the childhood home of the architect of Grey Tower?")

    def titles(method: str) -> list[str]:
        agent = "tfidf" if method == "kgp" else None
        retriever = PassageRetriever(database, corpus, method=method, agent=agent)
        return [passage.title for passage in retriever.retrieve(question).passages]

    assert "Mabel Quist" not in titles("bm25")
    found = titles("kgp")
    assert {"Mabel Quist", "Ostrow Farm"} <= set(found)
    assert found[0] == "Grey Tower"
    paths = PassageRetriever(database, corpus, agent="tfidf").retrieve(question).paths
    (path,) = [path for path in paths if path.steps[-1].reason == "ostrow farm"]
    assert path.steps[0].reason.endswith("title")
    read = read_passages(database, [step.passage for step in path.steps])
    titles = [read[step.passage].title for step in path.steps]
    assert titles == ["Grey Tower", "Mabel Quist", "Ostrow Farm"]


@pytest.mark.alone
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hops": 1, "seeds": 2},
        {"seeds": 1, "branching": 2},
        {"budget": 8, "seeds": 3, "branching": 1},
    ],
    ids=str,
)
def test_the_database_retrieves_as_the_agent_does(
    database: Database, demo_corpus: str, question: str, settings: dict[str, int]
) -> None:
    paths = _walk(database, demo_corpus, question, **settings)
    found = rows(
        database,
        "CALL custom.kgp.retrieve($question, $corpus, $settings) YIELD passage, score, path "
        "RETURN passage.id AS id, score, size(path) AS steps",
        question=question,
        corpus=demo_corpus,
        settings=settings,
    )
    made = {path.last: path.steps[-1].score for path in paths}
    assert {row["id"]: row["score"] for row in found} == pytest.approx(made)


@pytest.mark.parametrize("method", ["bm25", "dense", "hybrid", "kgp"])
def test_methods(database: Database, demo_corpus: str, method: str) -> None:
    settings = TraversalSettings(budget=6)
    retriever = PassageRetriever(database, demo_corpus, method=method, settings=settings)
    done = retriever.retrieve(Question("q", _QUESTIONS[0]))
    assert 1 <= len(done.passages) <= 6
    assert [path.last for path in done.paths] == [p.id for p in done.passages]
    assert [path.steps[-1].score for path in done.paths] == [p.score for p in done.passages]
    read = read_passages(database, [passage.id for passage in done.passages])
    assert [read[passage.id].text for passage in done.passages] == [p.text for p in done.passages]
    assert done.seconds > 0
    assert retriever.retrieve(Question("q", "  ")).passages == ()


def test_what_is_found_depends_on_no_name(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path
) -> None:
    # All score alike but for the passage's own words: the same ones must be among the first six.
    rooms = [(f"Room {at}", f"Room {at} is used by club {20 - at}.") for at in range(20)]
    found = []
    for name in (corpus, other_corpus):
        load_records(database, name, tmp_path / name, *rooms)
        retriever = PassageRetriever(
            database, name, method="bm25", settings=TraversalSettings(budget=6)
        )
        found.append([p.title for p in retriever.retrieve(Question("", "which room?")).passages])
    assert found[0] == found[1]


def test_what_a_retriever_refuses(database: Database, corpus: str, tmp_path: Path) -> None:
    load_records(database, corpus, tmp_path, *_BRIDGE)
    with pytest.raises(ConfigurationError, match="there is no method 'magic'"):
        PassageRetriever(database, corpus, method="magic").open()
    # Before it is connected, only full text works.
    found = PassageRetriever(database, corpus, method="bm25").retrieve(Question("", "tower"))
    assert found.passages
    for method in ("dense", "hybrid"):
        with pytest.raises(CorpusError, match=r"graph yet.*kgp-neo4j connect"):
            PassageRetriever(database, corpus, method=method).open()
    connect(database, corpus, edges=["tfidf"])
    assert PassageRetriever(database, corpus).name == "tfidf"
    with pytest.raises(CorpusError, match="no similarity graph yet"):
        PassageRetriever(database, corpus, agent="knn").open()


def _followed(
    database: Database, corpus: str, agent: NextEvidenceAgent, question: str, budget: int
) -> list[tuple[str, ...]]:
    """Follow Algorithm 1 line by line, one path and one call at a time."""
    seeds = database.read("procedures/seeds", question=question, corpus=corpus, limit=2)
    paths = [(row["passage"]["id"],) for row in seeds]
    queue, visited = list(paths), {path[0] for path in paths}
    while queue:
        path = queue.pop(0)
        (evidence,) = agent.next_evidence(question, [ReasoningPath(())], {})
        written = agent.writes_text or not evidence.vector
        frontier = {"passage": path[-1], "text": evidence.text}
        frontier |= {} if written else {"vector": list(evidence.vector or ())}
        rows = database.read(
            "traverse/paper_hop",
            corpus=corpus,
            edge="SHARES_KEYWORD",
            frontier=[frontier],
            visited=sorted(visited),
        )
        for row in rows[:2]:
            if len(visited) == budget:
                return paths
            visited.add(row["passage"])
            paths.append((*path, row["passage"]))
            queue.append(paths[-1])
    return paths


@pytest.mark.alone
@pytest.mark.parametrize("question", _QUESTIONS)
@pytest.mark.parametrize("budget", [7, 30])
def test_the_paper_is_followed_to_the_letter(
    database: Database, demo_corpus: str, knn: KnnAgent, question: str, budget: int
) -> None:
    given = {"budget": budget, "seeds": 2, "branching": 2, "edges": ("SHARES_KEYWORD",)}
    settings = traversal_settings("paper", **given)
    for agent in (TfidfAgent(), knn, _Writing("book winters", [1.0] * 384)):
        paths = agent.walk(database, demo_corpus, question, settings)
        made = [tuple(step.passage for step in path.steps) for path in paths]
        assert made == _followed(database, demo_corpus, agent, question, budget)
        assert len(made) <= budget
        edges = {step.edge for path in paths for step in path.steps[1:]}
        assert edges <= {"SHARES_KEYWORD"}
    # No word of this question is in the corpus, and nothing is filled up from the search.
    assert bool(made) == ("zebra" not in question)


def test_the_paper_walks_one_graph_that_is_there(database: Database, demo_corpus: str) -> None:
    assert traversal_settings("paper").edges == ("SHARES_ENTITY",)
    assert traversal_settings(seeds=None, edges=()) == TraversalSettings()
    with pytest.raises(ConfigurationError, match="walks one graph"):
        traversal_settings("paper", edges=("NEXT", "SIMILAR_ST"))
    paper = traversal_settings("paper")
    retriever = PassageRetriever(database, demo_corpus, settings=paper)
    found = retriever.retrieve(Question("1", _QUESTIONS[0]))
    assert retriever.open().name == "knn"
    assert found.settings["algorithm"] == "paper"
    assert {step.edge for path in found.paths for step in path.steps} == {"seed", "SHARES_ENTITY"}
    with pytest.raises(ConfigurationError, match="the agent learned does not walk"):
        PassageRetriever(database, demo_corpus, agent="learned", settings=paper).retrieve(
            Question("1", _QUESTIONS[0])
        )
    lacking = traversal_settings("paper", edges=("SIMILAR_MDR",))
    with pytest.raises(CorpusError, match="has no mdr graph"):
        PassageRetriever(database, demo_corpus, settings=lacking).open()
