"""`python -m kgp_neo4j.cli` is `kgp-neo4j`."""

from kgp_neo4j.cli import main

main()
