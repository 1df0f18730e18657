"""Keywords, which passages share most of them, counted pair by pair, and the nearest by cells."""

import math
import random
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_graphs import FILMS

from kgp_neo4j.corpus.connect import embedding_graph as nearest
from kgp_neo4j.corpus.connect import graph_build as shared
from kgp_neo4j.corpus.connect.graph_build import hash_texts, outdated, strongest_pairs
from kgp_neo4j.corpus.connect.keyword_graph import extract_keywords
from kgp_neo4j.text.words import content_words
from kgp_neo4j.types.settings import KeywordSettings


def _links(*texts: str | tuple[str, str], **settings: int) -> list[dict[str, SimpleNamespace]]:
    """Extract the keywords of passages given as text or (title, text)."""
    pairs = [("", text) if isinstance(text, str) else text for text in texts]
    passages = [(title, f"{title}. {text}") for title, text in pairs]
    titles = [title for title, _ in pairs]
    found = extract_keywords(passages, titles, KeywordSettings(**settings))
    links: list[dict[str, SimpleNamespace]] = [{} for _ in texts]
    for at, number, weight, owned in zip(
        found.passage, found.keyword, found.weight, found.owned, strict=True
    ):
        own = {"named": found.named[number], "frequency": found.frequency[number]}
        links[at][found.texts[number]] = SimpleNamespace(tfidf=weight, owned=owned, **own)
    return links


def test_keywords_are_maximal_n_grams() -> None:
    first, second, third = _links(
        "They took the Ho Chi Minh trail south.",
        "The Ho Chi Minh trail was a road.",
        "The road went south.",
    )
    # "ho", "chi minh" and "minh trail" stand in the longer one only.
    assert set(first) == {"ho chi minh trail", "south"}
    assert set(second) == {"ho chi minh trail", "road"}
    assert set(third) == {"road", "south"}
    assert first["ho chi minh trail"].frequency == 2


def test_the_longest_keyword_has_as_many_words_as_allowed() -> None:
    text = "alpha beta gamma delta epsilon"
    pairs = "alpha beta, beta gamma, gamma delta, delta epsilon".split(", ")
    assert set(_links(text, text, longest=2)[0]) == set(pairs)
    assert set(_links(text, text, longest=1)[0]) == set(text.split())


def test_keywords_neither_begin_nor_end_with_a_stop_word() -> None:
    texts = ("The house of the rising sun is old.", "The house of the rising sun was new.")
    assert set(_links(*texts, longest=2)[0]) == {"house", "rising sun"}
    assert set(_links(*texts, longest=5)[0]) == {"house", "rising sun", "house of the rising sun"}


def test_a_word_of_one_passage_is_no_keyword() -> None:
    assert _links("unique harbour", "other harbour")[0].keys() == {"harbour"}
    assert _links("all alone here") == [{}]
    assert _links() == []


def test_weights_are_normalised_tf_idf() -> None:
    found, *_ = _links("Whale and whale, one squid.", "A squid, no whale.", "The squid.", "Eel.")
    # `whale` stands twice here and in two passages, `squid` once here and in three.
    whale = (1 + math.log(2)) * (math.log(5 / 3) + 1)
    squid = math.log(5 / 4) + 1
    norm = math.hypot(whale, squid)
    assert set(found) == {"whale", "squid"}
    assert math.isclose(found["whale"].tfidf, whale / norm)
    assert math.isclose(found["squid"].tfidf, squid / norm)


def test_the_best_keywords_are_kept_and_titles_come_on_top() -> None:
    texts = [("Zebra crossing", f"Zebra crossing, apple, pear{', plum' * n}.") for n in (1, 1)]
    found = _links(*texts, ("", "apple"), keywords=1)[0]
    assert len(found) == 2
    assert "zebra crossing" in found


def test_titles_are_in_the_vocabulary() -> None:
    film, director, city, cult, _ = _links(*FILMS)
    # A title that one other passage names is a keyword of both, whatever its frequency.
    assert film["ed wood"].owned
    assert film["tim burton"].named
    assert not film["tim burton"].owned
    assert director["ed wood"].named
    assert city["tim burton"].named
    assert cult["cult film"].owned
    # The whole title with its disambiguator names the film too.
    assert film["ed wood film"].owned
    # A title nobody else names is a keyword of its own passage.
    assert city["burbank"].owned


def test_a_common_word_is_a_title_only_as_it_is_written() -> None:
    titles = (("Heat", "A heist."), ("Heat and Dust", "A novel."))
    # Also at the end of a text.
    texts = ("He saw Heat.", "She likes Heat", "The heat was on.", "He felt the heat")
    found = [set(links) for links in _links(*titles, *texts)[2:]]
    assert found == [{"heat"}, {"heat"}, set(), set()]


def test_the_longest_title_is_meant() -> None:
    *_, text = _links(("York", "A city."), ("New York", "A state."), ("", "He left New York."))
    assert {name for name, link in text.items() if link.named} == {"new york"}


def test_chinese_and_japanese_titles_are_found_in_running_text() -> None:
    titles = ("长城", "A wall."), ("東京タワー", "A tower.")
    texts = ("", "他们参观了长城和故宫。"), ("", "昨日、東京タワーへ行った。")
    *_, chinese, japanese = _links(*titles, *texts)
    assert "长 城" in chinese
    assert "東 京 タ ワ ー" in japanese


def test_accents_and_other_scripts_make_words() -> None:
    athens = ("Αθήνα Πόλη", "x"), ("", "Η Αθήνα Πόλη είναι μεγάλη.")
    _, greek, hindi = _links(*athens, ("", "दिल्ली नगर"))
    assert "αθήνα πόλη" in greek
    assert hindi == {}


def test_a_function_word_in_capitals_is_a_name() -> None:
    assert content_words("Does the IT department ask the WHO who it is?") == [
        *("it", "department", "ask", "who")
    ]
    assert content_words("WHO IS IT FOR") == []


_Items = Mapping[int, Mapping[int, float]]


def _pairs(items: _Items, passages: int, neighbours: int) -> list[list[Any]]:
    """Run it on the items of each passage with their weights; names run against the numbers."""
    places = [(p, i, w) for p in sorted(items) for i, w in items[p].items()]
    passage, item, weight = (
        map(np.array, zip(*places, strict=True)) if places else (np.zeros(0),) * 3
    )
    found = strongest_pairs(
        passage.astype(np.int64), item.astype(np.int64), weight, weight,
        [f"{passages - n:03}" for n in range(passages)],
        neighbours,
    )  # fmt: skip
    rows = zip(
        found.first.tolist(), found.second.tolist(), found.count.tolist(),
        found.weight.tolist(), found.items.tolist(), strict=True,
    )  # fmt: skip
    return [[*row, [n for n in items if n >= 0]] for *row, items in rows]


def _counted(items: _Items, passages: int, neighbours: int) -> dict[tuple[int, int], Any]:
    made: dict[tuple[int, int], Any] = {}
    for p in sorted(items):
        found = []
        for q in items:
            both = [i for i in items[p] if i in items[q]]
            if q != p and both:
                weight = sum(items[p][i] * items[q][i] for i in both)
                found.append((-weight, f"{passages - q:03}", q, both))
        for weight, _, q, both in sorted(found)[:neighbours]:
            if (q, p) not in made:
                made[p, q] = (len(both), -weight, both[:5])
    return made


@pytest.mark.parametrize("most", [1, 50, 1_000_000])
@pytest.mark.parametrize("neighbours", [0, 1, 3, 40])
def test_the_pairs_are_those_of_a_plain_count(
    monkeypatch: pytest.MonkeyPatch, neighbours: int, most: int
) -> None:
    monkeypatch.setattr(shared, "_MOST_PAIRS", most)
    drawn = random.Random(1)
    # Few different weights, so that many are equal; some passages have nothing.
    items = {
        p: {i: drawn.choice((0.25, 0.5)) for i in drawn.sample(range(30), drawn.randrange(12))}
        for p in range(40)
        if p % 7
    }
    found = _pairs(items, 40, neighbours)
    wanted = _counted(items, 40, neighbours)
    assert {(a, b): (n, w, names) for a, b, n, w, names in found} == wanted
    assert len(found) == len(wanted)


def _outdated(
    given: Mapping[int, Mapping[str, float]], stored: Sequence[str | None], gone: Sequence[int] = ()
) -> dict[int, str]:
    """Compare the relationships of each of three passages, by name with their weights."""
    made = [(p, name, w) for p, items in given.items() for name, w in items.items()]
    return outdated(
        np.array([p for p, _, _ in made], np.int64),
        hash_texts(name for _, name, _ in made),
        np.array([w for _, _, w in made]),
        stored,
        ~np.isin(np.arange(3), gone),
    )


def test_a_passage_is_written_when_its_relationships_are_others() -> None:
    given = {0: {"a": 0.5, "b": 0.25}, 2: {"a": 3.0}}
    marks = _outdated(given, [None] * 3)
    # A passage that has none is marked too.
    assert (sorted(marks), marks[1]) == ([0, 1, 2], "")
    stored = [marks[0], marks[1], marks[2]]
    assert _outdated(given, stored) == {}
    assert _outdated({2: given[2], 0: {"b": 0.25, "a": 0.5}}, stored) == {}
    # A weight may move by half a hundredth, a larger one by more.
    assert _outdated({**given, 0: {"a": 0.505, "b": 0.245}}, stored) == {}
    assert list(_outdated({**given, 0: {"a": 0.52, "b": 0.25}}, stored)) == [0]
    assert _outdated({**given, 2: {"a": 3.05}}, stored) == {}
    assert list(_outdated({**given, 0: {"a": 0.5, "c": 0.25}}, stored)) == [0]
    assert list(_outdated({**given, 0: {"a": 0.5}}, stored)) == [0]
    assert list(_outdated({**given, 1: {"a": 0.5}}, stored)) == [1]
    # A relationship that went with the passage at its other end.
    assert list(_outdated(given, stored, gone=[2])) == [2]
    assert _outdated(given, stored, gone=[2])[2] == marks[2]


def test_the_nearest_in_cells_are_nearly_all_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_CELLS", 64)
    monkeypatch.setattr(nearest, "_CELLS_NEAR", 12)
    drawn = np.random.default_rng(1)
    middles = drawn.standard_normal((40, 24))
    vectors = middles[drawn.integers(40, size=4000)] + drawn.standard_normal((4000, 24))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    asked = np.arange(1, 4000, 3)

    found = {}
    for of, places, cosines in nearest._nearest_in_cells(vectors, asked, 10):
        counted = np.einsum("ij,ikj->ik", vectors[of], vectors[places])
        assert np.allclose(cosines, counted, atol=1e-5)
        assert (np.diff(cosines) <= 0).all()
        found.update(zip(of, map(set, places.tolist()), strict=True))
    assert sorted(found) == asked.tolist()
    assert all(len(places) == 10 and of not in places for of, places in found.items())
    every = nearest._nearest(vectors, asked, 10)
    both = [len(found[o] & set(p)) for of, near, _ in every for o, p in zip(of, near, strict=True)]
    assert sum(both) >= 0.95 * 10 * len(asked)


def test_few_vectors_all_equal_have_neighbours_too() -> None:
    vectors = np.full((5, 4), 0.5, np.float32)
    found = {o: len(p) for of, near, _ in nearest._nearest_in_cells(vectors, np.arange(5), 4)
             for o, p in zip(of, near, strict=True)}  # fmt: skip
    assert found == dict.fromkeys(range(5), 4)
