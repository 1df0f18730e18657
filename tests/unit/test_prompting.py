"""Prompts, replies and citations: what is asked, how a reply is read, and what carries a claim."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from asking import pipeline_with
from scripted_model import Scripted

from kgp_neo4j import Answer, Passage, Question, ReasoningPath, Retrieval
from kgp_neo4j.corpus.answer.check import MARK, UNJUDGED, Claim, Evidence, marked, parse_reply
from kgp_neo4j.corpus.answer.model import answer_with_model, passage_block, prompt_for, weigh
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.safe import neutral, plain, printable
from kgp_neo4j.types.corpus import Form, Reply, Step

_QUESTION = "Where was the designer of the Hesk Bridge born?"
_TEXTS = (
    ("Hesk Bridge", "The Hesk Bridge replaced the ferry in 1912. It was designed by Isobel Tarn."),
    ("Isobel Tarn", "She was born in Kettlehaven, over a bakery. She did not like ponies."),
    ("Ruan Quarry", "Otters live in the quarry now. It employed 1,250 French workers."),
    ("Sea Report", "The tide was 3.2 or 4.7 on 3.11.1990 and 1.10.1991, at 17:30 and 18:05."),
)
_PASSAGES = tuple(
    Passage(str(n) * 32, "d", title, 0, 0, len(text), text)
    for n, (title, text) in enumerate(_TEXTS, 1)
)
_NUMBERS = {passage.id: n for n, passage in enumerate(_PASSAGES, 1)}


def test_the_prompt_holds_passages_question_and_form() -> None:
    blocks = [passage_block(n, p) for n, p in enumerate(_PASSAGES, 1)]
    short, long = (prompt_for(_QUESTION, blocks, form) for form in ("short", "long"))
    for prompt in (short, long):
        assert "Passage [2], of 'Isobel Tarn':\n| She was born in Kettlehaven" in prompt
        assert f"Question: {_QUESTION}" in prompt
        assert "[1]" in prompt.split("===")[0]
        assert "not in the evidence" in prompt
    assert 'Answer: "' in short
    assert "paragraph" in long
    assert "not in" not in prompt_for(_QUESTION, blocks, "short", abstains=False)
    alone = prompt_for(_QUESTION, [], "short", alone=True)
    assert "passage" not in alone.lower()
    assert 'Answer: "' in alone


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        ("It is so [1].", (1,)),
        ("It is so [1, 2].", (1, 2)),
        ("It is so [1] [3], truly.", (1, 3)),
        ("It is so【2†source】。", (2,)),
        ("It is so [1-3].", (1, 2, 3)),
        ("It is so [^2].", (2,)),
        ("It is so [99].", (99,)),
        ("It is so [[1], [2]].", (1, 2)),
        (r"It is so \[2\].", (2,)),
        ("It is so [2](http://evil.example/a).", (2,)),
        ("It is so 【段落2】.", (2,)),
        ("It is so [2, line 3].", (2,)),
        ("It is so [passage: 2].", (2,)),
        ("It is so [1—3].", (1, 2, 3)),
        ("It is so (Passage [1], [2]).", (1, 2)),
        ("It is so.", ()),
        ("It is so (in 1912).", ()),
    ],
)
def test_citations_are_read_in_many_forms(said: str, cited: tuple[int, ...]) -> None:
    parsed = parse_reply(said, "long")
    assert [claim.cited for claim in parsed.claims] == [cited]
    assert parsed.claims[0].text.startswith("It is so")
    assert not any(mark in parsed.claims[0].text for mark in ("[", "【", "Passage"))


@pytest.mark.parametrize(
    "said",
    [
        "Answer: Kettlehaven [2]\nBecause: The designer was Isobel Tarn [1]. She was born "
        "there [2].",
        "**Answer:** Kettlehaven [2]\n\n**Because:** The designer was Isobel Tarn. [1] "
        "She was born there. [2]",
        "Kettlehaven [2]\nThe designer was Isobel Tarn [1]. She was born there [2].",
        "The designer was Isobel Tarn [1]. She was born there [2]. So the answer is: "
        "Kettlehaven [2].",
        "1. Answer: Kettlehaven [2]\n"
        "2. Because: The designer was Isobel Tarn [1]. She was born there [2].",
        "### Answer\nKettlehaven [2]\n### Because\nThe designer was Isobel Tarn [1]. She was born "
        "there [2].",
        "Answer: Kettlehaven [2] Because: The designer was Isobel Tarn [1]. She was born "
        "there [2].",
        "<think>Paris? [3]</think>Answer: Kettlehaven [2].\n"
        "- The designer was Isobel Tarn [1].\n- She was born there [2].",
    ],
)
def test_a_short_answer_and_its_reasons_are_told_apart(said: str) -> None:
    parsed = parse_reply(said, "short")
    assert parsed.claims == (
        Claim("Kettlehaven", (2,), short=True),
        Claim("The designer was Isobel Tarn.", (1,)),
        Claim("She was born there.", (2,)),
    )


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("", "empty"),
        ("…", "empty"),
        ("\x1b[0m", "empty"),
        ("not in the evidence", "abstains"),
        ("Answer: not in the evidence [1]", "abstains"),
        ("The answer is not stated in the passages.", "abstains"),
        ("Based on the given passages, it cannot be determined.", "abstains"),
        ("I don't know.", "abstains"),
        ("There is no information about it. It was Paris.", "answer"),
        ("I apologize, but no.", "refused"),
        ("As an AI I have no view.", "refused"),
        ("It is not stated that he was born [1], but he was [2].", "answer"),
    ],
)
def test_kinds_of_replies(said: str, kind: str) -> None:
    assert parse_reply(said, "long").kind == kind


def test_numbers_of_lists_go_and_those_of_what_is_said_stay() -> None:
    for said in ("3. Oktober 1990", "1. FC Hesk", "It returns a Map<String, Tarn>"):
        assert [claim.text for claim in parse_reply(f"{said} [1]", "short").claims] == [said]
    assert [c.text for c in parse_reply("1. So.\n2. <B>No</B>.", "long").claims] == ["So.", "No."]


def test_a_reply_cut_off_loses_what_it_began_last() -> None:
    said = "It was designed by Isobel Tarn [1]. She was born in Kett"
    assert len(parse_reply(said, "long").claims) == 2
    (whole,) = parse_reply(said, "long", cut=True).claims
    assert whole.text == "It was designed by Isobel Tarn."


def test_replies_are_made_inert() -> None:
    said = (
        "\x1b[31mRed\x1b[0m <b>bold</b> [words](http://evil.example/a) ![i](http://evil.example/b) "
        "see https://evil.example/c, and https://good.example/d.\n[r]: http://evil.example/e\n"
        f"<script>alert(1)</script>\u202ereversed\u200b<!-- <b>{'x' * 6_000} -->"
    )
    made = neutral(said, "It stands at https://good.example/d.")
    assert "evil.example" not in made
    assert "https://good.example/d." in made
    assert "words" in made
    assert not set("\x1b<>\u202e\u200b") & set(made)


@pytest.mark.parametrize("depth", [1, 2, 5, 200])
def test_links_within_links_are_taken_apart(depth: int) -> None:
    said = "![" * depth + "x" + "](http://evil.example/a)" * depth
    made = neutral(said)
    assert "](" not in made
    assert "evil.example" not in made
    assert "x" in made


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_every_end_of_a_line_is_one(end: str) -> None:
    assert printable(f"one{end}two") == "one\ntwo"
    assert plain(f"one{end}two") == "one two"


def test_what_is_not_seen_goes_and_what_joins_letters_stays() -> None:
    said = "\x1b[31mre\u00add\x00 \u202eleft\ufeff می\u200cخواهم 👩\u200d👧 \ud800"
    assert plain(said) == "red left می\u200cخواهم 👩\u200d👧"


@pytest.mark.parametrize("meaning", [True, False])
@pytest.mark.parametrize(
    ("claim", "places", "against"),
    [
        ("The Hesk Bridge was designed by Isobel Tarn.", [0], ""),
        ("Isobel Tarn was born in Kettlehaven.", [1], ""),
        ("Isobel Tarn, the designer of the Hesk Bridge, was born in Kettlehaven.", [0, 1], ""),
        ("The quarry employed 1250 French workers.", [2], ""),
        ("The quarry employed 1250 workers from France.", [2], "not in them: france"),
        ("Isobel Tarn did not like ponies.", [1], ""),
        ("The Hesk Bridge replaced the ferry in 1913.", [0], "not in them: 1913"),
        ("The Isobel Tarn replaced the ferry in 1912.", [0], "they say “Hesk Bridge”, not “Isobel"),
        ("Isobel Tarn was not born in Kettlehaven.", [1], "one denies what the other says"),
        ("Isobel Tarn liked ponies.", [1], "one denies what the other says"),
        ("Seven otters live in the quarry.", [2], "not in them: 7"),
        ("It was painted green by volunteers.", [0], "they say too little of it"),
        ("Otters swim in the quarry now.", [2], "they say “live”, not “swim”"),
        ("The tide was 4,7 at 17.30 on 1991-10-1.", [3], ""),
        ("The tide was 4.2 on 3.10.1990 at 18:30.", [3], "not in them: 18.30, 3.10.1990, 4.2"),
        ("It was.", [0], "it says nothing that could be compared"),
        (
            "The Hesk Bridge was designed by Isobel Tarn and painted bright green.",
            [0],
            "they say nothing of “painted bright green",
        ),
    ],
)
def test_support(
    claim: str, places: list[int], against: str, meaning: bool, encoder: Encoder
) -> None:
    found = Evidence(_QUESTION, _PASSAGES, encoder if meaning else None).support(claim, places)
    assert found.carried == (not against)
    assert found.against.startswith(against)
    assert 0.0 <= found.score <= 1.0


@pytest.mark.parametrize(
    ("claim", "against"),
    [
        ("The designer of the Hesk Bridge is Isobel Tarn.", ""),
        ("The designer of the Hesk Bridge is Bo Arden.", "rather say “Isobel Tarn” than “Bo"),
        ("Isobel Tarn is the rival of Mary Ambel.", "do not say this of “Isobel Tarn” and “Mary"),
    ],
)
def test_the_reader_sees_another_name_of_the_passage(claim: str, against: str) -> None:
    text = f"{_TEXTS[0][1][:-1]}, built by Bo Arden and opened by Mary Ambel."
    given = [Passage("1", "d", "Hesk Bridge", 0, 0, len(text), text)]
    model, ask = Scripted([f"{claim} [1]"]), load_reader().likeliest
    (made,) = answer_with_model(_QUESTION, given, model, form="long", ask=ask).statements
    assert (made.carried, against in made.note) == (not against, True)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Answer: Kettlehaven [2]", "Kettlehaven [2]"),
        ("Answer: Kettlehaven", "Kettlehaven [2]"),
        ("Answer: Kettlehaven [1]", "Kettlehaven [2]"),
        ("Answer: Paris [2]", f"Paris {MARK}"),
        ("Answer: 2 [4]", f"2 {MARK}"),
        ("Answer: over a bakery [2]", "over a bakery [2]"),
        ("Answer: workers from France [3]", f"workers from France {MARK}"),
        ("Answer: liked ponies [2]", f"liked ponies {MARK}"),
        ("Answer: Kettlehaven, over a bakery. Isobel Tarn liked ponies [2].",
         f"Kettlehaven, over a bakery {MARK}\nIsobel Tarn liked ponies. {MARK}"),
        ("Answer: yes", f"yes {MARK}"),
        ("Answer: yes\nBecause: The Hesk Bridge was designed by Isobel Tarn [1].",
         "yes [1]\nThe Hesk Bridge was designed by Isobel Tarn. [1]"),
        ("Answer: yes\nBecause: Isobel Tarn liked ponies [2].",
         f"yes {MARK}\nIsobel Tarn liked ponies. {MARK}"),
        ("Answer: Kettlehaven [2]\nBecause: Isobel Tarn was born in Paris [2].",
         f"Kettlehaven {MARK}\nIsobel Tarn was born in Paris. {MARK}"),
        ("Isobel Tarn, the designer of the Hesk Bridge, was born in Kettlehaven [2].",
         "Isobel Tarn, the designer of the Hesk Bridge, was born in Kettlehaven. [1][2]"),
        ('Answer: "Kettlehaven, over a bakery in the high street" [2]',
         f"Kettlehaven, over a bakery in the high street {MARK}"),
        ("Isobel Tarn was born in Kettlehaven [2][3]. Otters live in the quarry [1].",
         "Isobel Tarn was born in Kettlehaven. [2] Otters live in the quarry. [3]"),
    ],
)  # fmt: skip
def test_an_answer_says_what_carries_it(said: str, text: str) -> None:
    made = answer_with_model(_QUESTION, _PASSAGES, Scripted([said]), form="short")
    assert marked(made.statements, _NUMBERS) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Isobel Tarn wurde dort geboren [2].", f"Isobel Tarn wurde dort geboren. [2] {UNJUDGED}"),
        ("她出生在那里。[2]", f"她出生在那里。 [2] {UNJUDGED}"),
        ("Sie wurde dort 1850 geboren [2].", f"Sie wurde dort 1850 geboren. {MARK}"),
        ("lisinopril, amlodipine [2].", f"lisinopril, amlodipine. {MARK}"),
        ("She was born in Wien [2].", f"She was born in Wien. {MARK}"),
    ],
)
def test_a_claim_in_another_language_is_not_judged(said: str, text: str) -> None:
    made = answer_with_model(_QUESTION, _PASSAGES, Scripted([said]), form="long")
    assert marked(made.statements, _NUMBERS) == text
    (statement,) = made.statements
    assert (statement.judged, statement.carried) == (UNJUDGED not in text, False)
    assert ("another language" in made.notes[0]) is not statement.judged
    assert ("in both stand Isobel, Tarn" in statement.note) is ("Isobel" in said)


def test_notes_tell_what_was_changed() -> None:
    said = "Isobel Tarn was born in Kettlehaven [99]. She was born in Paris [2]."
    made = answer_with_model(_QUESTION, _PASSAGES, Scripted([said]), form="long")
    first, second = made.statements
    assert (first.carried, first.passages) == (True, (_PASSAGES[1].id,))
    assert first.note == "there is no passage [99]; cited nothing that is there; carried by [2]"
    assert (second.carried, second.passages) == (False, (_PASSAGES[1].id,))
    assert second.note == "[2] does not carry it: not in them: paris"
    assert made.notes[-1] == "The evidence carries 1 of 2 statements."


def test_passages_that_do_not_fit_are_left_out_and_named() -> None:
    # `Scripted` counts words: the task and the question take most of this context.
    model = Scripted(["Answer: Kettlehaven"], context=1300)
    long = [
        Passage(f"{n:032x}", "d", f"P{n}", 0, 0, 1, f"Number {n} " + "word " * 200)
        for n in range(6)
    ]
    made = answer_with_model(_QUESTION, long, model, form="short")
    shown = [n for n in range(6) if f"Passage [{n + 1}]" in model.prompts[0]]
    assert 0 < len(shown) < 6
    assert shown == list(range(len(shown)))
    missing = ", ".join(f"[{n}]" for n in range(len(shown) + 1, 7))
    assert made.notes[0].startswith(f"{6 - len(shown)} of 6 passages did not fit")
    assert made.notes[0].endswith(f": {missing}.")
    # With what each is worth, the best ones are shown, in their order.
    worth = {passage.id: float(n in (2, 5)) for n, passage in enumerate(long)}
    again = Scripted(["Answer: Kettlehaven"], context=1300)
    answer_with_model(_QUESTION, long, again, form="short", worth=worth)
    places = [again.prompts[0].find(f"Passage [{n}]") for n in (3, 6)]
    assert 0 < places[0] < places[1]


def _answered(model: Scripted, question: str = _QUESTION, form: Form = "long") -> Answer:
    """Return the answer of a pipeline that was given the passages."""
    paths = tuple(ReasoningPath((Step(p.id, "seed", 1.0),)) for p in _PASSAGES)
    given = SimpleNamespace(name="learned", encoder=None)
    retrieval = Retrieval(Question("", question), _PASSAGES, paths)
    return pipeline_with(None, "mine", given, model=model, form=form).answer(retrieval)


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (Reply("", "refused"), "The model declined to answer."),
        (Reply("", "empty"), "The model gave no reply."),
        (Reply("=== end of passages 0a1b2c3d4e5f ===\n", "stop"), "The model gave no reply."),
        (Reply("Reply in two lines. The first has nothing", "stop"), "The model gave no reply."),
        (Reply("I'm sorry, I can't.", "stop"), "The model declined to answer."),
        (Reply("Isobel Ta", "length"), "The model's reply was cut off before it said anything."),
    ],
)
def test_the_reader_answers_where_the_model_does_not(reply: Reply, note: str) -> None:
    answer = _answered(Scripted([reply]), "Where was Isobel Tarn born?")
    assert answer.notes == (note, "The offline reader answers instead.")
    assert answer.text == answer.reading.text
    assert answer.by == "reader"


def test_a_model_that_finds_nothing_leaves_the_text_empty() -> None:
    told = "The model says that the passages do not hold the answer."
    answer = _answered(Scripted(["not in the evidence"]), "Who swims in the quarry of Kettlehaven?")
    assert (answer.text, answer.statements) == ("", ())
    assert answer.notes == (told,)
    assert answer.sentences
    # Where the reader is sure, it answers.
    answer = _answered(Scripted(["not in the evidence"]))
    assert (answer.text, answer.by, answer.stated) == ("Kettlehaven", "reader", True)
    assert answer.notes == (told, "The offline reader answers instead.")


def test_what_reader_and_model_say_is_weighed() -> None:
    both = _answered(Scripted(["She was born in Kettlehaven [2]."]))
    assert (both.stated, both.by, both.notes) == (True, "model", ())
    unsure = replace(both.reading, confidence=0.5)
    assert weigh(both.statements, unsure, "probable") is None
    assert weigh(both.statements, None, "none") is None
    other = _answered(Scripted(["The quarry employed French workers [3]."]))
    assert (other.stated, other.statements[0].carried) == (False, True)
    assert other.notes == ("The offline reader reads otherwise: Kettlehaven (nine in ten).",)
    nowhere = _answered(Scripted(["Otters sing [3]."]), "What is the capital of Mongolia?")
    told = "The language model says “Otters sing.”, which no passage carries."
    assert (nowhere.text, nowhere.notes) == ("", (told,))
    unsaid = _answered(Scripted(["Otters sing [3]."]))
    assert (unsaid.text, unsaid.by) == ("Kettlehaven", "reader")
    assert [statement.text for statement in unsaid.overruled] == ["Otters sing."]
    assert unsaid.notes == nowhere.notes
    foreign = _answered(Scripted(["Isobel Tarn wurde dort geboren [2]."]))
    assert (foreign.stated, len(foreign.notes)) == (False, 1)
    # Of two short answers the one that the reader is sure of is given.
    for said, told in (
        ("Answer: French workers [3]", "says otherwise: “French workers”"),
        (
            "Answer: Kettlehaven [2]\nOtters sing [3].",
            "says the same, for a reason that no passage carries",
        ),
    ):
        sure = _answered(Scripted([said]), form="short")
        assert (sure.text, sure.by, sure.stated) == ("Kettlehaven", "reader", True)
        assert sure.notes == (f"The language model {told}.",)
    # Of one that it is not sure of it says how much likelier it is than the model's.
    for question, by in (
        ("Where was the bridge's designer from?", "reader"),
        ("Who built the bridge?", "model"),
    ):
        rival = _answered(Scripted(["Answer: French workers [3]"]), question, form="short")
        assert (rival.by, rival.tier, len(rival.notes)) == (by, "probable", 1)
    reasons = "Answer: Kettlehaven [2]\nShe was born in Kettlehaven [2]. Otters sing [3]."
    both = _answered(Scripted([reasons]), form="short")
    assert (both.stated, both.by, both.statements[-1].carried) == (True, "model", False)
