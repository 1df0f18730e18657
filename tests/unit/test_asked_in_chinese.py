"""Which end of a relation a Chinese question asks for, by the order of its words."""

import pytest

from kgp_neo4j.mindmap.explore.asked_in_chinese import paths_in_chinese

_RELATIONS = ["管理", "合作", "供应", "母公司", "常用药品"]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("谁管理甲？", [("管理", False)]),
        ("甲管理谁？", [("管理", True)]),
        ("甲被谁管理？", [("管理", False)]),
        ("被甲管理的人有哪些？", [("管理", True)]),
        ("甲由哪个部门管理？", [("管理", False)]),
        ("甲是谁管理的？", [("管理", False)]),
        ("甲的管理者是谁？", [("管理", False)]),
        ("哪些公司向甲供应？", [("供应", False)]),
        ("甲向哪家公司供应？", [("供应", True)]),
        ("甲的母公司是哪家？", [("母公司", True)]),
        ("甲是谁的母公司？", [("母公司", False)]),
        ("谁的母公司是甲？", [("母公司", False)]),
        ("甲有哪些常用药品？", [("常用药品", True)]),
        ("甲的药品有哪些？", [("常用药品", True)]),
        ("甲的母公司供应谁？", [("母公司", True), ("供应", True)]),
        ("管理甲的人供应谁？", [("管理", False), ("供应", True)]),
        ("谁管理甲的母公司？", [("母公司", True), ("管理", False)]),
        ("你好，我想问一下，甲管理谁？", [("管理", True)]),
        # Nothing is asked of it, or nothing is named, or it is Japanese.
        ("甲管理很多人。", []),
        ("甲喜欢谁？", []),
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
