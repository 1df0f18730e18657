"""What this installation is made of: packages, jars and encoders, with their licences.

A bill of materials (SBOM) in CycloneDX's form, which scanners for known vulnerabilities read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from kgp_neo4j.graphdb.server.artifacts import load_lock
from kgp_neo4j.integrations.spark_connector import CONNECTOR
from kgp_neo4j.models.pretrained import PRETRAINED

__all__ = ["Part", "describe_sbom", "installed_parts"]

_PACKAGE = "kgp-neo4j"
_NAME = re.compile(r"[\w.-]+")
_CLASSIFIER = "License :: "


@dataclass(frozen=True, slots=True)
class Part:
    """A package of Python, a jar of the embedded server, or an encoder that is fetched."""

    kind: str
    name: str
    version: str
    licence: str
    #: Of the file that is fetched and checked; empty for packages, which pip checks.
    sha256: str = ""

    @property
    def address(self) -> str:
        """The part's package URL (purl)."""
        if self.kind == "python":
            return f"pkg:pypi/{self.name}@{self.version}"
        group, name, *classifier = self.name.split(":")
        told = f"?classifier={classifier[0]}" if classifier else ""
        return f"pkg:maven/{group}/{name}@{self.version}{told}"


def installed_parts() -> list[Part]:
    """Return all parts, sorted by kind and name.

    Of packages those that this one needs, and those of its extras that are installed; of the
    embedded server and the encoders what is fetched when they are first used.
    """
    found = [*_packages()]
    for jar in (*load_lock().artifacts, CONNECTOR):
        group, name, version, *classifier = jar.coordinate.split(":")
        whole = ":".join((group, name, *classifier))
        found.append(Part("jar", whole, version, jar.licence, jar.sha256))
    for encoder in PRETRAINED.values():
        name, _, version = encoder.coordinate.rpartition(":")
        found.append(Part("encoder", name, version, encoder.licence, encoder.sha256))
    return sorted(found, key=lambda part: (part.kind, part.name.lower()))


def describe_sbom(parts: list[Part]) -> dict[str, Any]:
    """Return the parts as a CycloneDX 1.6 document."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": _PACKAGE,
                "version": metadata.version(_PACKAGE),
            }
        },
        "components": [
            {
                "type": "machine-learning-model" if part.kind == "encoder" else "library",
                "name": part.name,
                "version": part.version,
                "purl": part.address,
                **({"licenses": [{"license": {"name": part.licence}}]} if part.licence else {}),
                **({"hashes": [{"alg": "SHA-256", "content": part.sha256}]} if part.sha256 else {}),
            }
            for part in parts
        ],
    }


def _packages() -> Iterator[Part]:
    """Yield the installed packages among what this one needs, directly or through others."""
    wanted, seen = [_PACKAGE], set()
    while wanted:
        try:
            found = metadata.distribution(wanted.pop())
        except metadata.PackageNotFoundError:  # of an extra, or of another system
            continue
        name = re.sub(r"[-_.]+", "-", found.name).lower()
        if name in seen:
            continue
        seen.add(name)
        wanted += [needed[0] for line in found.requires or () if (needed := _NAME.match(line))]
        yield Part("python", name, found.version, _licence_of(found.metadata.json))


def _licence_of(told: dict[str, Any]) -> str:
    """Return the licence as a package's metadata has it: an expression, classifiers or a name."""
    named = [each for each in told.get("classifier", ()) if each.startswith(_CLASSIFIER)]
    text = told.get("license", "").strip()
    return (
        told.get("license_expression")
        or " or ".join(each.rpartition(" :: ")[2] for each in named)
        or (text if "\n" not in text else "")
    )
