"""What is configured, and where it comes from.

A setting is, in this order, what the command line says, the environment, the project's file
(`kgp-neo4j.toml` in the working folder or the nearest folder above it, or the file that
KGP_NEO4J_CONFIG names), the user's own file, or its default. Keys and passwords stand in no file of
settings.
"""

from __future__ import annotations

from kgp_neo4j.configuration.addresses import checked_url, shown_url
from kgp_neo4j.configuration.definitions import SETTINGS, Held, LanguageSettings, Setting
from kgp_neo4j.configuration.keys import read_key
from kgp_neo4j.configuration.reading import (
    FILE,
    Configuration,
    language_settings,
    read_configuration,
    replies_folder,
    user_file,
)
from kgp_neo4j.configuration.showing import Shown, shown

__all__ = [
    "FILE",
    "SETTINGS",
    "Configuration",
    "Held",
    "LanguageSettings",
    "Setting",
    "Shown",
    "checked_url",
    "language_settings",
    "read_configuration",
    "read_key",
    "replies_folder",
    "shown",
    "shown_url",
    "user_file",
]
