"""The ranker of questions over tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgp_neo4j.corpus.tables.questions.ranker import load_ranker, read_ranker
from kgp_neo4j.types.errors import ModelError


def test_the_ranker_that_is_shipped_is_loaded_once_and_what_is_none_is_told(tmp_path: Path) -> None:
    assert load_ranker() is load_ranker()
    assert 0.3 < load_ranker().threshold < 1
    with pytest.raises(ModelError, match="no ranker") as caught:
        read_ranker(tmp_path)
    assert str(tmp_path) in str(caught.value)
    (tmp_path / "ranker.safetensors").write_bytes(b"not one")
    with pytest.raises(ModelError, match="no ranker"):
        read_ranker(tmp_path)
