"""Recognise the text of a page that is a picture, with the extra `ocr`, which includes its
models.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import median
from typing import Any

from kgp_neo4j.corpus.load.pdf.drawing import picture_of
from kgp_neo4j.corpus.load.pdf.letters import Word
from kgp_neo4j.environment.extras import is_installed

_DOTS_PER_INCH = 250
#: The share of a box that its letters fill, and the least difference of boxes with two letter
#: sizes.
_ROOM, _ALIKE = 0.8, 0.3


def can_recognise() -> bool:
    """Return whether the extra `ocr` is installed."""
    return is_installed("rapidocr")


def recognised_words(page: Any) -> list[Word]:
    """Return the words in the picture of one of pdfplumber's pages, in points from the top left."""
    picture = picture_of(page, _DOTS_PER_INCH / 72)
    result = _engine()(picture)
    if result.txts is None:
        return []
    scale = float(page.width) / picture.shape[1]
    boxes = [(*box.min(axis=0) * scale, *box.max(axis=0) * scale) for box in result.boxes]
    usual = median(bottom - top for _, top, _, bottom in boxes)
    words = []
    for (x0, top, x1, bottom), text in zip(boxes, result.txts, strict=True):
        height = bottom - top
        size = _ROOM * float(usual if abs(height - usual) < _ALIKE * usual else height)
        middle, step = float(top + bottom) / 2, float(x1 - x0) / max(len(text), 1)
        at = 0
        for word in text.split(" "):
            begin, at = float(x0) + at * step, at + len(word) + 1
            if word:
                box = (begin, middle - size / 2, begin + len(word) * step, middle + size / 2)
                words.append(Word(word, *box, size=size))
    return words


@lru_cache(maxsize=1)
def _engine() -> Any:
    from kgp_neo4j.models.engine import import_openvino, thread_count

    import_openvino()  # first, without the event that OpenVINO sends over the network
    from rapidocr import EngineType, RapidOCR

    engines: dict[str, Any] = {
        f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Cls", "Rec")
    }
    engines["EngineConfig.openvino.inference_num_threads"] = thread_count()
    return RapidOCR(params={"Global.log_level": "critical", **engines})
