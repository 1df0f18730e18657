"""kgp-neo4j: questions over many documents, answered from a graph in Neo4j with evidence.

The names of `__init__.pyi` are each imported when they are first used, so that importing the
package costs nothing. The records that they give and take stand in `kgp_neo4j.types`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
