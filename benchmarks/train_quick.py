"""Train the quick encoder that is shipped, again: `model.safetensors` of `models/quick_encoder`.

    python benchmarks/train_quick.py FOLDER --out trained/quick

Needs torch. The full encoder reads OTT-QA's passages, the training questions and contexts of the
three sets and of others, rows of tables, names and single sentences; then static vectors and a
hidden layer are fitted to what it made of them. Its vectors are kept in --out, so that a run goes
on where it ended.
"""

import random
import re
from pathlib import Path
from typing import Any

import _common as common
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file

from kgp_neo4j.models.encoder import load_encoder, passage_text
from kgp_neo4j.models.quick import LONGEST

#: Of a piece, the two means and the hidden layer.
SIZE, HIDDEN, POSITIONS = 256, 512, 64
EPOCHS, RATE, DROP = 4, 2e-3, 0.1
TABLES, NAMES, SENTENCES, OTHERS = 8_000, 40_000, 20_000, 4
ASKED = ("hotpotqa/train", "hotpotqa/train_more", "2wiki/train", "2wiki/train_more",
         "musique/train", "musique/train_decompositions", "strategyqa/train")  # fmt: skip


def texts_of(data: Path, seed: int) -> list[str]:
    """Return the texts to fit to: passages, parts of tables, names, sentences and questions."""
    draw = random.Random(seed)
    passages = common.linked_passages(data)
    texts = [passage_text(*passage) for passage in passages]
    asked = common.read_lines(*(data / f"{name}.jsonl.gz" for name in ASKED))
    for title, sentences in (pair for row in asked for pair in row.get("context", ())):
        texts.append(passage_text(title, "".join(sentences)))
    for row in draw.sample(common.read_lines(data / "ottqa/tables.jsonl.gz"), TABLES):
        lines = [[cell for cell, _ in line] for line in (row["header"], *row["data"])]
        first, most = draw.randrange(max(1, len(lines) - 3)), draw.randint(3, 12)
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines[first : first + most])
        texts.append(passage_text(row["title"], shown))
    texts += draw.sample(sorted({re.sub(r" \(.*\)$", "", title) for title, _ in passages}), NAMES)
    # Other kinds of text are few beside Wikipedia's.
    for row in common.read_lines(*common.extractive(data)):
        texts += [passage_text(row.get("title") or "Document", row["context"])] * OTHERS
    for _, text in draw.sample(passages, SENTENCES):
        texts.append(draw.choice(re.split(r"(?<=[.!?]) ", text)))
    return [text for text in (*texts, *(row["question"] for row in asked)) if text.strip()]


class Network(torch.nn.Module):
    """The network of `kgp_neo4j.models.quick`, to be trained; pieces of texts are left out."""

    def __init__(self, pieces: NDArray[Any], share: NDArray[Any]) -> None:
        super().__init__()
        centred = pieces - share @ pieces
        axes = np.linalg.svd(centred * np.sqrt(share)[:, None], full_matrices=False)[2][:SIZE]
        start = torch.from_numpy(4 * centred @ axes.T).float()
        self.pieces = torch.nn.EmbeddingBag.from_pretrained(start, freeze=False, mode="sum")
        self.weight = torch.nn.Parameter(torch.from_numpy(np.log(1e-3 / (1e-3 + share))).float())
        slopes = torch.stack([torch.zeros(POSITIONS), torch.linspace(1, -3, POSITIONS)])
        self.position = torch.nn.Parameter(slopes)
        self.linear = torch.nn.Linear(2 * SIZE, len(pieces[0]))
        self.hidden = torch.nn.Linear(2 * SIZE, HIDDEN)
        self.output = torch.nn.Linear(HIDDEN, len(pieces[0]), bias=False)
        with torch.no_grad():
            self.linear.weight.zero_()
            self.linear.weight[:, :SIZE] = torch.from_numpy(axes.T)
            self.output.weight.zero_()

    def forward(self, texts: list[NDArray[Any]]) -> torch.Tensor:
        """Return the vectors of texts that are given as the numbers of their pieces."""
        lengths = torch.tensor([len(text) for text in texts])
        ids = torch.from_numpy(np.concatenate(texts))
        starts = lengths.cumsum(0) - lengths
        place = torch.arange(len(ids)) - starts.repeat_interleave(lengths)
        text = torch.arange(len(texts)).repeat_interleave(lengths)
        # Of a name of few pieces none may be missing.
        lost = DROP * ((lengths - 3) / 20).clamp(0, 1).repeat_interleave(lengths)
        kept = (torch.rand(len(ids)) >= lost).float()
        means = []
        for position in self.position:
            weights = torch.exp(self.weight[ids] + position[place.clamp(max=POSITIONS - 1)]) * kept
            sums = torch.zeros(len(texts)).index_add(0, text, weights)
            total = self.pieces(ids, starts, per_sample_weights=weights)
            means.append(total / (sums[:, None] + 1e-6))
        mean = torch.cat(means, 1)
        return self.linear(mean) + self.output(torch.relu(self.hidden(mean)))


def store(network: Network, file: Path) -> None:
    """Write a network as `kgp_neo4j.models.quick` reads it: pieces in 8 bits, the rest in 16."""
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    pieces = state["pieces.weight"]
    scale = np.abs(pieces).max(1) / 127 + 1e-9
    matrices = {"position": state["position"]}
    matrices |= {f"{name}_bias": state[f"{name}.bias"] for name in ("linear", "hidden")}
    matrices |= {name: state[f"{name}.weight"].T for name in ("linear", "hidden", "output")}
    arrays = {name: np.ascontiguousarray(of.astype(np.float16)) for name, of in matrices.items()}
    arrays |= {"pieces": np.round(pieces / scale[:, None]).astype(np.int8)}
    save_file(arrays | {"scale": scale, "weight": state["weight"]}, file)


def main() -> None:
    """Encode the texts, fit the network, and store it."""
    parser = common.parser(__doc__, None)
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    encoder, texts = load_encoder(), texts_of(given.folder, given.seed)
    kept = given.out / "teacher.npy"
    if not kept.exists():
        np.save(kept, encoder.encode(texts).astype(np.float16))
    wanted = torch.from_numpy(np.load(kept)).float()
    read = encoder.tokenizer.encode_batch(texts, add_special_tokens=False)
    ids = [np.array(each.ids[:LONGEST]) for each in read]
    words = [encoder.tokenizer.id_to_token(at) for at in range(encoder.tokenizer.get_vocab_size())]
    count = np.bincount(np.concatenate(ids), minlength=len(words))
    alone = encoder.encode([word.removeprefix("##") for word in words])
    torch.manual_seed(given.seed)
    network = Network(alone, count / count.sum())
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    steps = EPOCHS * len(ids) // 512
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, pct_start=0.02)
    for step in range(steps):
        batch = torch.randint(len(ids), (512,))
        near = torch.cosine_similarity(network([ids[at] for at in batch]), wanted[batch])
        loss = (1 - near).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            common.say(f"{step} of {steps}: {loss.item():.4f}")
    store(network, given.out / "model.safetensors")


if __name__ == "__main__":
    main()
