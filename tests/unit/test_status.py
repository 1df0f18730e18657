"""What a question says of its mentions: present, denied, past, of somebody else, or asked for."""

import pytest

from kgp_neo4j.mindmap.link.status import read_statuses
from kgp_neo4j.types.mindmap import LinkedEntity

#: Texts whose mentions are in brackets with the first letter of their status; p is present.
_TEXTS = """\
Patient denies [fever d], chills or [rash d]. She [coughs p] and has a [sore throat p].
He no longer has a [headache x] but is [dizzy p].
The [fever x] is gone since Monday, the [cough p] stays.
Neither [fever d] nor [rash d], but [itching p].
I have not only [fever p] but also [cough p].
There is no improvement of the [cough p], and the medicine did not help my [fever p].
I have a [cough p] with no [fever d] and a [runny nose p].
No [fever d], no [chills d], [cough p] since Monday.
I had a [fever x] last week and now I have a [rash p].
I've had a [headache p] for the past few weeks. The [cough p] started last week.
I have never had a [headache p] this bad before. My [fever p] has not gone away.
My father had [pneumonia o]. He had [asthma o] too. I have [itchy eyes p].
My child has a [cough p] and a [rash p]. I think it might be [croup p].
There is [lack of growth p] and [leg pain p].
The engine used to [stall x], now it [rattles p] without [smoke d].
Which suppliers do not deliver [steel a]?
employees who never worked for [Tern Shipping a]
Which illnesses cause [cough p] but not [fever a]?
What do I have if I [cough p] but have no [fever d]?
Which suppliers other than [Vale d] deliver [steel p]?
Does [influenza p] not cause [fever p]?
Can it be [flu p] if there is no [fever d]?
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
