"""The model card of an MDR encoder."""

from __future__ import annotations

from kgp_neo4j.models.mdr_folder import MdrFolder

__all__ = ["model_card"]


def model_card(made: MdrFolder) -> str:
    """Return the README.md of an encoder's folder."""
    told = made.training
    what = f"a LoRA adapter of rank {made.lora_rank}" if made.lora_rank else "a whole model"
    sources = [f"| {name} | {count:,} |" for name, count in told["sources"].items()]
    lines = [
        "# MDR encoder",
        "",
        f"Predicts the next supporting passage from a question and the passages before it: {what} "
        f"on `{made.encoder}`, fine-tuned with kgp-neo4j after multi-hop dense retrieval (Xiong et "
        "al., ICLR 2021).",
        "",
        "```sh",
        "kgp-neo4j connect --corpus NAME --edges knn-mdr --mdr-model FOLDER",
        'kgp-neo4j ask "..." --corpus NAME --agent mdr',
        "```",
        "",
        "| training data | pairs |",
        "|---|---|",
        *sources,
        "",
        f"{told['steps']:,} steps of {told['batch']} pairs with {told['negatives']} hard negatives "
        f"each, learning rate {told['learning_rate']:g}, warm-up {told['warm_up']:g}, gradients "
        f"cut at {told['clip']:g}, seed {told['seed']}. The loss went from "
        f"{told['first_loss']:.3f} to {told['last_loss']:.3f}.",
        "",
        f"Word pieces at most: question {made.lengths.question}, passage {made.lengths.passage}, "
        f"query with passages {made.lengths.query}. The passages before share evenly what the "
        "question leaves.",
        "",
    ]
    return "\n".join(lines)
