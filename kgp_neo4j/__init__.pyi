from .corpus.corpus import Corpus as Corpus
from .corpus.pipeline import Answerer as Answerer
from .corpus.pipeline import Pipeline as Pipeline
from .corpus.pipeline import Retriever as Retriever
from .corpus.traverse.algorithm import Agent as Agent
from .corpus.traverse.algorithm import NextEvidenceAgent as NextEvidenceAgent
from .graphdb.database import Database as Database
from .graphdb.database import install as install
from .graphdb.database import open_database as open_database
from .mindmap.knowledge_graph import KnowledgeGraph as KnowledgeGraph
from .types.corpus import (
    Answer as Answer,
)
from .types.corpus import (
    ConnectReport as ConnectReport,
)
from .types.corpus import (
    Document as Document,
)
from .types.corpus import (
    LanguageModel as LanguageModel,
)
from .types.corpus import (
    LoadReport as LoadReport,
)
from .types.corpus import (
    NextEvidence as NextEvidence,
)
from .types.corpus import (
    Passage as Passage,
)
from .types.corpus import (
    Question as Question,
)
from .types.corpus import (
    ReasoningPath as ReasoningPath,
)
from .types.corpus import (
    Reply as Reply,
)
from .types.corpus import (
    Retrieval as Retrieval,
)
from .types.corpus import (
    SourceDocument as SourceDocument,
)
from .types.errors import InputError as InputError
from .types.errors import KgpError as KgpError
from .types.mindmap import MindMap as MindMap
from .types.settings import (
    AgentSettings as AgentSettings,
)
from .types.settings import (
    EntitySettings as EntitySettings,
)
from .types.settings import (
    KeywordSettings as KeywordSettings,
)
from .types.settings import (
    MiningSettings as MiningSettings,
)
from .types.settings import (
    SimilaritySettings as SimilaritySettings,
)
from .types.settings import (
    TraversalSettings as TraversalSettings,
)
