"""Training the ranker of questions over tables, and the benchmark that measures it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import denotation
from kgp_neo4j.corpus.tables.questions.ranker import (
    CONFIDENCE,
    confidence_row,
    groups_of,
    load_ranker,
    read_ranker,
)
from kgp_neo4j.corpus.tables.questions.table_grid import Grid, grid_of
from kgp_neo4j.evaluate.denotations import same_values
from kgp_neo4j.models.trees import Trees
from kgp_neo4j.train.table_forms import made_up
from kgp_neo4j.train.table_questions import (
    RankerSettings,
    Sample,
    grow_confidence,
    save,
    train_ranker,
)
from kgp_neo4j.types.errors import ModelError

_SMALL = RankerSettings(rounds=4, rare=(2, 2, 2), seed=5)


def _grid(seed: int) -> Grid:
    """Return a small table of invented islands."""
    random = Random(seed)
    names = [f"{a}{b}" for a in ("Ard", "Hesk", "Mor", "Skel") for b in ("fin", "vich", "by")]
    random.shuffle(names)
    rows = [
        (name, str(random.randrange(10, 900)), random.choice(("Norway", "Denmark", "Iceland")))
        for name in names[:9]
    ]
    return grid_of(("Island", "People", "Flag"), rows)


def _samples(seeds: range) -> list[Sample]:
    made = []
    for seed in seeds:
        grid = _grid(seed)
        for text, plan in made_up(grid, Random(seed), 8):
            links = link(text, grid)
            found = candidates(links, grid)
            if not (values := denotation(grid, plan).values):
                continue  # the row after the last
            right = [same_values(c.result.values, values) for c in found]
            made.append(Sample(example(links, grid, found), right, groups_of(found), part=seed % 2))
    return made


def test_made_up_questions_can_be_read_as_they_are_meant() -> None:
    samples = _samples(range(12))
    assert len(samples) > 40
    # A comparison that no row fulfils is not among the readings.
    assert sum(any(s.right) for s in samples) >= 0.95 * len(samples)


@pytest.mark.slow
@pytest.mark.train
def test_a_saved_ranker_reads_questions_over_tables_it_has_not_seen_and_knows_how_well(
    tmp_path: Path,
) -> None:
    weights, card = train_ranker(_samples(range(25)), _SMALL)
    save(tmp_path, weights, {**card, "threshold": 0.7})
    ranker = read_ranker(tmp_path)
    assert ranker.threshold == 0.7
    unseen = _samples(range(100, 130))
    judged = [confidence_row(ranker, sample.example, sample.groups) for sample in unseen]
    right = np.array([s.right[best] for s, (best, _) in zip(unseen, judged, strict=True)])
    assert right.mean() > 0.6 > np.mean([np.mean(sample.right) for sample in unseen])
    rows = [row for _, row in judged]
    trees = Trees(CONFIDENCE, grow_confidence(rows, list(right), smallest_leaf=10))
    scores = trees.scores(np.array(rows, np.float32))
    assert scores[right].mean() > scores[~right].mean()


def test_the_ranker_that_is_shipped_is_loaded_once_and_what_is_none_is_told(tmp_path: Path) -> None:
    assert load_ranker() is load_ranker()
    assert 0.3 < load_ranker().threshold < 1
    with pytest.raises(ModelError, match="no ranker") as caught:
        read_ranker(tmp_path)
    assert str(tmp_path) in str(caught.value)
    (tmp_path / "ranker.safetensors").write_bytes(b"not one")
    with pytest.raises(ModelError, match="no ranker"):
        read_ranker(tmp_path)
