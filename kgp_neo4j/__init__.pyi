from .corpus.corpus import Corpus as Corpus
from .corpus.pipeline import Answerer as Answerer, Pipeline as Pipeline, Retriever as Retriever
from .corpus.traverse.algorithm import Agent as Agent, NextEvidenceAgent as NextEvidenceAgent
from .graphdb.database import (
    Database as Database,
    install as install,
    open_database as open_database,
)
from .mindmap.knowledge_graph import KnowledgeGraph as KnowledgeGraph
from .types.corpus import (
    Answer as Answer,
    ConnectReport as ConnectReport,
    Document as Document,
    LanguageModel as LanguageModel,
    LoadReport as LoadReport,
    NextEvidence as NextEvidence,
    Passage as Passage,
    Question as Question,
    ReasoningPath as ReasoningPath,
    Reply as Reply,
    Retrieval as Retrieval,
    SourceDocument as SourceDocument,
)
from .types.errors import InputError as InputError, KgpError as KgpError
from .types.mindmap import MindMap as MindMap
from .types.settings import (
    AgentSettings as AgentSettings,
    EntitySettings as EntitySettings,
    KeywordSettings as KeywordSettings,
    MiningSettings as MiningSettings,
    SimilaritySettings as SimilaritySettings,
    TraversalSettings as TraversalSettings,
)
