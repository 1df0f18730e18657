"""Train what tells a relation's ends apart by meaning: `asked_end.safetensors` of the package.

    python benchmarks/train_asked_ends.py --out asked_end.safetensors

`relations.tsv` has some 500 relations of 33 domains, each with verbs and nouns for either end. Two
sayings, as "x is the customer of y" and "x supplies y", are of the same end or of opposite ones.
What is said of an end becomes a vector, by a matrix on that of the default encoder; the product of
two is the log odds that they are of the same end. Each third of the domains is left out once: what
is right there is told, and how far the odds must be scaled to hold there. A second set of weights
tells the relations that hold both ways, a third the names that are verbs. Needs the extra `train`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import binary_cross_entropy_with_logits as loss_of

from kgp_neo4j.mindmap.explore.asked_paths import saying
from kgp_neo4j.models.encoder import load_encoder

COSTS = (100, 3)
SIZE, EPOCHS, BATCH, RATE, DECAY = 64, 8, 512, 3e-3, 0.3

#: A domain, and what is said of the head and of the tail of a relation.
Row = tuple[str, list[str], list[str]]
#: A domain, a relation's name, whether that holds both ways, and whether the name is a verb.
Name = tuple[str, str, bool, bool]


def verb(text: str) -> tuple[str, str, str]:
    """Return a verb's third person and participle, and what stands behind it."""
    first, _, rest = text.partition(" ")
    base, *forms = first.split(":")
    if base in ("be", "have"):
        return ("is" if base == "be" else "has"), "", rest
    y = base.endswith("y") and base[-2] not in "aeou"
    hissing = base.endswith(("s", "sh", "ch", "x", "z", "o"))
    third = base[:-1] + "ies" if y else base + ("es" if hissing else "s")
    past = base + "d" if base.endswith("e") else base[:-1] + "ied" if y else base + "ed"
    return third, forms[-1] if forms else past, rest


def sayings(verbs: Sequence[str], nouns: Sequence[str]) -> list[str]:
    """Return what is said of an end by its verbs and nouns."""
    forms = [verb(text) for text in verbs]
    said = [f"{form} {rest}" for *both, rest in forms for form in both if form]
    return [text.strip() for text in said] + [f"is the {noun} of" for noun in nouns]


def read(file: Path) -> tuple[list[Row], list[Name]]:
    """Return the relations that do not hold both ways, and names of all."""
    rows, names = [], list[Name]()
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        domain, _, _, *parts = line.split("\t")
        there, back, heads, tails = ([p for p in part.split(";") if p] for part in parts)
        both = "=" in (*there, *back)
        if not both:
            rows.append((domain, sayings(there, heads), sayings(back, tails)))
        for text in (text for text in (*there, *back) if text != "="):
            third, part, rest = verb(text)
            forms = (text.split(" ")[0].split(":")[0], third, part)
            told = [f"{form} {rest}".strip() for form in forms] if part else [rest]
            names += [(domain, name, both, bool(part)) for name in told]
        nouns = [noun for noun in (*heads, *tails) if noun != "="]
        nouns += [f"{noun}s" for noun in nouns if not noun.endswith("s")]
        names += [(domain, noun, both, False) for noun in nouns]
    return rows, names


def pairs(rows: Sequence[Row], place: dict[str, int]) -> torch.Tensor:
    """Return places of two sayings, and whether they are of the same end: (pairs, 3)."""
    made = []
    for _, head, tail in rows:
        made += [(a, b, 1) for end in (head, tail) for a in end for b in end if a != b]
        made += [(a, b, 0) for a in head for b in tail]
    return torch.tensor([(place[a], place[b], same) for a, b, same in made])


def fit(vectors: torch.Tensor, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrix, (SIZE, dimension), and the bias."""
    torch.manual_seed(0)
    matrix = torch.nn.Parameter(torch.empty(SIZE, vectors.shape[1]))
    torch.nn.init.orthogonal_(matrix)
    bias, scale = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.tensor(3.0))
    optimizer = torch.optim.AdamW([matrix, bias, scale], RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        for some in given[torch.randperm(len(given))].split(BATCH):
            odds = odds_of(vectors, some, matrix) * scale + bias
            loss = loss_of(odds, some[:, 2].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return (matrix * scale.abs().sqrt()).detach(), bias.detach()


def odds_of(vectors: torch.Tensor, given: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Return the products of each two sayings."""
    roles = vectors @ matrix.T
    return (roles[given[:, 0]] * roles[given[:, 1]]).sum(1)


def judge_of(vectors: np.ndarray, kind: np.ndarray, cost: float) -> LogisticRegression:
    """Return what tells from the vector of a relation's name whether it is of a kind."""
    return LogisticRegression(C=cost, max_iter=3000).fit(vectors, kind)


def main() -> None:
    """Read, leave out, tell, train and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("asked_end.safetensors"))
    given = parser.parse_args()
    rows, names = read(Path(__file__).with_name("relations.tsv"))
    texts = sorted({text for _, head, tail in rows for text in (*head, *tail)})
    place = {text: at for at, text in enumerate(texts)}
    vectors = torch.from_numpy(load_encoder().encode([saying(text) for text in texts]))
    mean = vectors.mean(0)
    vectors = vectors - mean
    domains = sorted({domain for domain, _, _ in rows})
    named = [
        load_encoder().encode([saying(each[1]) if at else each[1] for each in names])
        for at in (0, 1)
    ]
    kinds = [np.array([each[2 + at] for each in names]) for at in (0, 1)]
    held, sure = [], np.zeros((2, len(names)))
    for third in range(3):
        apart = set(domains[third::3])
        learned = pairs([row for row in rows if row[0] not in apart], place)
        other = pairs([row for row in rows if row[0] in apart], place)
        matrix, bias = fit(vectors, learned)
        held.append((odds_of(vectors, other, matrix) + bias, other[:, 2].float()))
        out = np.array([domain in apart for domain, *_ in names])
        for at in (0, 1):
            judge = judge_of(named[at][~out], kinds[at][~out], COSTS[at])
            sure[at, out] = judge.decision_function(named[at][out])
    odds, same = (torch.cat(part) for part in zip(*held, strict=True))
    scales = np.arange(0.1, 1.5, 0.05)
    scale = min(scales, key=lambda scale: float(loss_of(odds * scale, same)))
    right = float(((odds > 0) == (same > 0)).float().mean())
    print(f"{len(odds)} pairs of sayings left out: {right:.3f} right, odds scaled by {scale:.2f}")
    for name, odds_, kind in zip(("holds both ways", "is a verb"), sure, kinds, strict=True):
        shares = (odds_ > 0)[kind].mean(), (odds_ > 0)[~kind].mean()
        print(f"{name}: of the names for which it is so {shares[0]:.3f}, of others {shares[1]:.4f}")
    matrix, bias = fit(vectors, pairs(rows, place))
    both, verbs = (judge_of(named[at], kinds[at], COSTS[at]) for at in (0, 1))
    arrays = {
        "matrix": (matrix * scale**0.5).numpy(), "mean": mean.numpy(),
        "bias": (bias * scale).numpy(), "both": both.coef_[0], "both_bias": both.intercept_,
        "verb": verbs.coef_[0], "verb_bias": verbs.intercept_,
    }  # fmt: skip
    save_file({name: part.astype(np.float16) for name, part in arrays.items()}, given.out)


if __name__ == "__main__":
    main()
