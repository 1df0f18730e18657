"""Keyword extraction: n-grams, titles and their weights."""

import math
from types import SimpleNamespace

from small_graphs import FILMS

from kgp_neo4j.corpus.connect.keywords import extract_keywords
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
    _, _, chinese, japanese = _links(
        ("长城", "A wall."),
        ("東京タワー", "A tower."),
        ("", "他们参观了长城和故宫。"),
        ("", "昨日、東京タワーへ行った。"),
    )
    assert "长 城" in chinese
    assert "東 京 タ ワ ー" in japanese


def test_accents_and_other_scripts_make_words() -> None:
    _, greek, hindi = _links(
        ("Αθήνα Πόλη", "x"), ("", "Η Αθήνα Πόλη είναι μεγάλη."), ("", "दिल्ली नगर")
    )
    assert "αθήνα πόλη" in greek
    assert hindi == {}


def test_a_function_word_in_capitals_is_a_name() -> None:
    assert content_words("Does the IT department ask the WHO who it is?") == [
        *("it", "department", "ask", "who")
    ]
    assert content_words("WHO IS IT FOR") == []
