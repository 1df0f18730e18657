"""The entity linker: names, places, case, ambiguity, coherence, phrases, spaCy, aliases."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from graphs import write_file

from kgp_neo4j.corpus.connect import entity_graph
from kgp_neo4j.corpus.connect.entity_graph import Linked, Phrase, Phrases, link_all, rarity
from kgp_neo4j.text.words import cut
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import EntitySettings


def _titles(*titles: str) -> list[tuple[str, str]]:
    return [(title, title) for title in titles]


def _link(
    linker: entity_graph.EntityLinker, texts: Sequence[str], owners: Sequence[str | None] = ()
) -> list[list[entity_graph.Mention]]:
    """Link texts, which begin the documents `owners`, and return the mentions of each."""
    owned = [linker.number.get(owner or "", -1) for owner in owners or [None] * len(texts)]
    for text in texts:
        linker.read(cut(text))
    return [mentions for _, mentions in linker.link(texts, owned)]


def _found(
    texts: list[str], *titles: str, owners: Sequence[str | None] = (), **settings: float
) -> list[list[tuple[str, str]]]:
    """Return (surface, title) of each mention, having checked the places."""
    linker = entity_graph.EntityLinker(_titles(*titles), settings=EntitySettings(**settings))
    made = _link(linker, texts, owners)
    for text, mentions in zip(texts, made, strict=True):
        ends = [0]
        for m in mentions:
            assert text[m.start : m.end] == m.surface
            assert m.start >= ends[-1]
            assert all(0 <= x <= 1 for x in (m.commonness, m.coherence, m.score))
            ends.append(m.end)
    return [[(m.surface, linker.titles[m.entity]) for m in mentions] for mentions in made]


def test_places_count_characters_of_the_text_as_it_is() -> None:
    text = "𝔘𝔫𝔦 👍🏽: ﬁrst Zoe\u0308 Kim met ①Ａｎｎ."
    ((mention,),) = _link(entity_graph.EntityLinker(_titles("Zoë Kim")), [text])
    assert (mention.surface, mention.start, mention.end) == ("Zoe\u0308 Kim", 13, 21)


def test_names_of_a_title() -> None:
    def forms(title: str, *aliases: str) -> dict[str, float]:
        return {" ".join(keys): weight for keys, _, weight in entity_graph.names_of(title, aliases)}

    assert forms("Ed Wood (film)") == {"ed wood film": 1.0, "ed wood": 0.5}
    assert forms("Paris, Texas") == {"paris texas": 1.0, "paris": 0.3}
    assert forms("Abdullah II of Jordan")["abdullah ii"] == 0.3
    assert forms("Ant &amp; Dec") == {"ant dec": 1.0, "ant and dec": 1.0}
    assert forms("Arsenal F.C.")["arsenal"] == 0.4
    assert "arsenals" not in forms("Arsenal F.C.")
    assert forms("Cult film")["cult films"] == 1.0
    assert forms("NATO")["n a t o"] == 1.0
    assert forms("Beyoncé", "Queen B") == {"beyonce": 1.0, "queen b": 0.9}
    assert forms("(disambiguation)") == {"disambiguation": 1.0}
    assert forms("!!!") == {}


def test_longest_names_first_and_none_across_sentences() -> None:
    found = _found(
        ["He left New York City for York. New York is older than York, he said in New. York fell."],
        "New York", "New York City", "York",
    )  # fmt: skip
    names = ["New York City", "York", "New York", "York", "York"]
    assert found == [[(name, name) for name in names]]


def test_case_tells_names_from_words() -> None:
    texts = [
        "It was once said that the who of it is ours. Once it rained, we saw The Who play.",
        "She met us and WHO staff in the US. It is she who knows.",
        'He starred in "Once" and "It" with her.',
        "Once more the sun set; once a week it did.",
    ]
    found = _found(texts, "It", "Once (film)", "The Who", "US", "WHO")
    it = ["It is so, and so it is: it rains.", "I.T is a shop, and it sells IT goods."]
    assert _found(it, "I.T", owners=[None, "I.T"]) == [[], [("I.T", "I.T"), ("IT", "I.T")]]
    assert found == [
        [("The Who", "The Who")],
        [("WHO", "WHO"), ("US", "US")],
        [("Once", "Once (film)"), ("It", "It")],
        [],
    ]


def test_common_nouns_are_met_in_lower_case_and_plural() -> None:
    texts = [
        "A cult film has followers. Every cult film does.",
        "Two cult films and a surgeon were there.",
        "A surgeon is a doctor. The surgeon operates.",
    ]
    owners = ["Cult film", None, "Surgeon"]  # nothing else speaks for them
    found = _found(texts, "Cult film", "Surgeon", owners=owners, threshold=0.1)
    assert found[1] == [("cult films", "Cult film"), ("surgeon", "Surgeon")]
    # Where its own document writes a title as a name, it is one.
    texts = ["Surgeon (born 1971) is a musician; many like Surgeon.", "A surgeon came."]
    assert _found(texts, "Surgeon", owners=["Surgeon", None], threshold=0.1)[1] == []


def test_scripts_without_case_and_marks() -> None:
    assert _found(["我在北京市见过他。", "ที่กรุงเทพ"], "北京") == [[("北京", "北京")], []]
    assert _found(["Rontgen and RÖNTGEN met."], "Röntgen") == [
        [("Rontgen", "Röntgen"), ("RÖNTGEN", "Röntgen")]
    ]


def test_commonness_prefers_the_whole_title_and_the_one_named_more_often() -> None:
    linker = entity_graph.EntityLinker(_titles("Ed Wood", "Ed Wood (film)"))
    ((mention,),) = _link(linker, ["We spoke of Ed Wood."])
    assert linker.titles[mention.entity] == "Ed Wood"
    assert mention.commonness == pytest.approx(1 / 1.5)
    texts = ["They saw Ash Lake, Ohio twice.", "They saw Ash Lake, Ohio.", "We love Ash Lake."]
    assert _found(texts, "Ash Lake, Iowa", "Ash Lake, Ohio")[2] == [("Ash Lake", "Ash Lake, Ohio")]


def test_coherence_and_qualifiers_choose_among_namesakes() -> None:
    titles = ("Mercury (planet)", "Mercury (singer)", "Venus Probe", "Wembley Show")
    texts = [
        "Venus Probe passed the planet Mercury.",
        "Wembley Show had the singer Mercury on stage.",
        "The Venus Probe flew by Mercury.",
        "The Wembley Show began with Mercury.",
        "Venus Probe is a spacecraft sent to Mercury (planet).",
        "Wembley Show is a concert of Mercury (singer).",
    ]
    owners = [None, None, None, None, "Venus Probe", "Wembley Show"]
    found = _found(texts, *titles, owners=owners)
    assert [dict(row)["Mercury"] for row in found[:4]] == [*titles[:2], *titles[:2]]


def test_the_order_of_the_texts_changes_nothing() -> None:
    titles = ("The Wall", "The Band", "Pink Moon", "Pink Moon (film)", "Nan Moe")
    texts = {
        "They saw The Wall and the Band.": None,
        "The Wall is an album. Critics liked the Wall.": "The Wall",
        "The Band is a film. The Band was made by Nan Moe. Moe was praised.": "The Band",
        "The film Pink Moon came after the Wall. Nan Moe knew it.": None,
        "Pink Moon, by Nan Moe, is a film of the Band and the Wall.": "Pink Moon (film)",
    }
    places = list(texts)
    made = []
    for order in itertools.permutations(places):
        linker = entity_graph.EntityLinker(_titles(*titles))
        found = _link(linker, order, [texts[text] for text in order])
        made.append(dict(zip(order, found, strict=True)))
    assert all(each == made[0] for each in made)
    assert [mention.surface for mention in made[0][places[0]]] == ["The Wall"]


def test_no_titles_and_hostile_texts() -> None:
    assert _link(entity_graph.EntityLinker([]), ["Ann Lee", ""]) == [[], []]
    hostile = ["(" * 3000, "A" * 5000, "\ud800 Ann Lee", "Ann\nLee", '"' * 1000 + "Ann Lee" + '"']
    found = _found(hostile, "Ann Lee", "!", "")
    assert found == [[], [], [("Ann Lee", "Ann Lee")], [], [("Ann Lee", "Ann Lee")]]


def _shared(texts: list[str], most: int = 100, title: str = "") -> list[list[Phrase]]:
    phrases = Phrases()
    for text in texts:
        phrases.add(cut(title), cut(text))
    places = zip(texts, phrases.shared(most), strict=True)
    return [[Phrase.at(title, text, a, b) for a, b in found] for text, found in places]


def test_what_few_passages_mention_is_rare() -> None:
    assert rarity(6, 1) == 1.0
    assert rarity(6, 2) == pytest.approx(math.log(4) / math.log(7))
    assert rarity(6, 2, single=True) == rarity(6, 2) / 2


def test_phrases_that_texts_share() -> None:
    texts = [
        "The bank of Ann Kelp came from Eden. Rain fell.",
        "In Eden Ann Kelp sang on 12 May 1950. Rain fell on Rainer.",
        "Kelp sang on 12 May 1950. The Bank of Eden is shut.",
        "We like the Bank of Eden.",
    ]
    found = _shared(texts)
    # Every part that begins and ends with a name or a number; "Rain" only ever begins a sentence.
    ann, day = ["Ann Kelp", "Ann", "Kelp"], ["12 May 1950", "12", "1950"]
    assert [
        [text[p.start : p.end] for p in row] for text, row in zip(texts, found, strict=True)
    ] == [
        [*ann, "Eden"],
        ["Eden", *ann, *day],
        ["Kelp", *day, "Bank of Eden", "Bank", "Eden"],
        ["Bank of Eden", "Bank", "Eden"],
    ]
    assert "eden" not in {p.key for row in _shared(texts, most=3) for p in row}
    assert _shared(["北京 北京", "北京"]) == [[], []]
    # Those of the title have no place, and it does not run into the text.
    titled = _shared(["Ann rests.", "Ben rests."], title="Malcolm X")
    assert [(p.surface, p.start) for p in titled[0]] == [("Malcolm X", None)]


def _linked(passages: Sequence[tuple[str, str, str]]) -> list[Linked]:
    """Return what passages mention, each given by its document, that one's title, and its text."""
    linker = entity_graph.EntityLinker([(document, title) for document, title, _ in passages])
    rows = [{"document": each, "title": title, "text": text} for each, title, text in passages]
    return list(link_all(linker, rows))


def test_what_passages_mention_by_their_titles_and_of_documents_of_one_title() -> None:
    passages = [
        ("a", "Ann Lee", "He sang in Oldtown, the town."),
        ("b", "Oldtown", "Ann Lee came to Oldtown once."),
        ("c", "Oldtown", "Two."),
    ]
    first, second, third = _linked(passages)
    # A name can't tell two documents apart that share it: both are meant, each with half of it.
    places = [(row["document"], row["offsets"]) for row in first.documents]
    assert places == [("b", [11, 18]), ("c", [11, 18])]
    assert {row["commonness"] for row in first.documents} == {0.5}
    # To those two their own name is no mention of the other.
    assert [row["document"] for row in second.documents] == ["a"]
    assert third.documents == []
    # A phrase of the title is mentioned too; where the text lacks it, it has no place there. "Ann"
    # by itself begins sentences only.
    assert first.phrases == [
        Phrase("ann lee", "Ann Lee", None, None),
        Phrase("lee", "Lee", None, None),
        Phrase("oldtown", "Oldtown", 11, 18),
    ]
    assert third.phrases == [Phrase("oldtown", "Oldtown", None, None)]


def test_a_phrase_has_one_name_however_its_characters_are_composed() -> None:
    texts = ["In 71 they won.", "Track 7⅓ was long.", "Track 7⅓ and 71 ⑦ once.", "Track 71 3."]
    passages = [(str(n), "", text) for n, text in enumerate(texts)]
    named = {p.key for linked in _linked(passages) for p in linked.phrases}
    assert {"71", "track 71 3"} <= named


def test_a_title_that_many_documents_share_means_none_of_them() -> None:
    passages = [(str(n), "Oldtown", "A town.") for n in range(21)]
    passages.append(("x", "Ann Lee", "She left Oldtown."))
    *_, last = _linked(passages)
    assert last.documents == []
    *_, last = _linked(passages[1:])
    assert len(last.documents) == 20


def test_aliases(tmp_path: Path) -> None:
    lines = "The Big Apple\tNew York\r\n\nGotham\tNew York\nX\tUnknown\n"
    aliases = entity_graph.read_aliases(write_file(tmp_path / "aliases.tsv", lines), ["New York"])
    assert aliases == {"New York": ["The Big Apple", "Gotham"]}
    linker = entity_graph.EntityLinker([("1", "New York")], aliases)
    ((first, second),) = _link(linker, ["From The Big Apple to Gotham."])
    assert [(m.surface, m.entity) for m in (first, second)] == [("The Big Apple", 0), ("Gotham", 0)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"only one\n", r"a\.tsv:1: this line names no alias"),
        (b"a\tYork\na\tb\tc\n", r"a\.tsv:2: this line names no alias"),
        (b"a\tNowhere\n", "none of its titles"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_aliases_that_cannot_be_used(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        entity_graph.read_aliases(write_file(tmp_path / "a.tsv", content), ["York"])
    with pytest.raises(InputError, match="cannot be read"):
        entity_graph.read_aliases(tmp_path / "none.tsv", ["York"])
