"""What a question to a graph says: of its mentions, and, in Chinese, which end it asks for."""

import pytest

from kgp_neo4j.mindmap.explore.asked_paths import paths_in_chinese
from kgp_neo4j.mindmap.link.linking import read_statuses
from kgp_neo4j.types.mindmap import LinkedEntity

_RELATIONS = ["管理", "合作", "供应", "母公司", "常用药品"]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("谁管理甲？", [("管理", False)]),
        ("甲管理谁？", [("管理", True)]),
        ("甲被谁管理？", [("管理", False)]),
        ("甲由哪个部门管理？", [("管理", False)]),
        ("甲是谁管理的？", [("管理", False)]),
        ("甲的管理者是谁？", [("管理", False)]),
        ("哪些公司向甲供应？", [("供应", False)]),
        ("甲向哪家公司供应？", [("供应", True)]),
        ("甲的母公司是哪家？", [("母公司", True)]),
        ("甲是谁的母公司？", [("母公司", False)]),
        ("甲有哪些常用药品？", [("常用药品", True)]),
        ("甲的药品有哪些？", [("常用药品", True)]),
        ("甲的母公司供应谁？", [("母公司", True), ("供应", True)]),
        ("管理甲的人供应谁？", [("管理", False), ("供应", True)]),
        ("谁管理甲的母公司？", [("母公司", True), ("管理", False)]),
        ("你好，我想问一下，甲管理谁？", [("管理", True)]),
        # Nothing is asked of it, or nothing is named, or it is Japanese.
        ("甲管理很多人。", []),
        ("甲的子公司是哪家？", []),
        ("甲は誰を管理していますか？", []),
        ("哪家公司喜欢甲？", []),
    ],
)
def test_the_path_asked_for(question: str, asked: list[tuple[str, bool]]) -> None:
    place = (question.index("甲"), question.index("甲") + 1)
    found = paths_in_chinese(question, place, [], _RELATIONS)
    assert list(found[0][0]) == asked if asked else not found


def test_a_relation_that_is_mutual_holds_from_either_side() -> None:
    found = paths_in_chinese("甲和谁合作？", (0, 1), [], _RELATIONS)
    assert {path for path, _ in found} == {(("合作", True),), (("合作", False),)}
    assert len({score for _, score in found}) == 1


def test_what_stands_behind_another_entity_is_said_of_that() -> None:
    found = paths_in_chinese("甲管理的人和乙供应谁？", (0, 1), [(7, 8)], _RELATIONS)
    assert found[0][0] == (("管理", True),)


#: Texts whose mentions are in brackets with the first letter of their status; p is present.
_TEXTS = """\
Patient denies [fever d], chills or [rash d]. She [coughs p] and has a [sore throat p].
He no longer has a [headache x] but is [dizzy p].
The [fever x] is gone since Monday, the [cough p] stays.
Neither [fever d] nor [rash d], but [itching p].
I have not only [fever p] but also [cough p].
There is no improvement of the [cough p], and the medicine did not help my [fever p].
I have a [cough p] with no [fever d] and a [runny nose p].
I had a [fever x] last week and now I have a [rash p].
I've had a [headache p] for the past few weeks. The [cough p] started last week.
I have never had a [headache p] this bad before. My [fever p] has not gone away.
My father had [pneumonia o]. He had [asthma o] too. I have [itchy eyes p].
My child has a [cough p] and a [rash p]. I think it might be [croup p].
The patient has [cough p] and [fever p], [pneumonia d] was ruled out.
I have [cough p], [fever x] has resolved.
There is [lack of growth p] and [leg pain p].
The engine used to [stall x], now it [rattles p] without [smoke d].
Which suppliers do not deliver [steel a]?
What do I have if I [cough p] but have no [fever d]?
Which suppliers other than [Vale d] deliver [steel p]?
Does [influenza p] not cause [fever p]?
[发热 p]、[咳嗽 p]，没有[胸痛 d]和[皮疹 d]，是什么病？
我[腹痛 p]，不[恶心 d]，还[发热 p]。
哪些疾病没有[咳嗽 a]症状？
以前有过[肺炎 x]，现在[咳嗽 p]，一直没有好转。
我爸爸有[高血压 o]，我[头晕 p]。
"""
_LETTERS = {"present": "p", "denied": "d", "past": "x", "other": "o", "asked": "a"}


@pytest.mark.parametrize("text", _TEXTS.splitlines())
def test_what_is_said_of_mentions(text: str) -> None:
    parts = text.replace("]", "[").split("[")
    names = [part[:-2] for part in parts[1::2]]
    question = "".join(part[:-2] if at % 2 else part for at, part in enumerate(parts))
    linked = [LinkedEntity(name, id=name, name=name) for name in names]
    found = read_statuses(question, linked, lambda first, second, name: False)
    assert [_LETTERS[e.status] for e in found] == [part[-1] for part in parts[1::2]], question


def test_a_lack_that_is_meant_is_no_denial() -> None:
    linked = [LinkedEntity("appetite", id="1", name="Loss of appetite", by="embedding")]
    for nearer, status in ((True, "present"), (False, "denied")):
        (found,) = read_statuses("I have no appetite.", linked, lambda *_, n=nearer: n)
        assert found.status == status
