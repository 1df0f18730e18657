// schema.documents() :: ()
// Keys and search of documents, passages, pages, keywords, named entities and kept questions.
// mode: SCHEMA

// A corpus is known by its name.
CREATE CONSTRAINT kgp_corpus_name IF NOT EXISTS FOR (c:Corpus) REQUIRE c.name IS UNIQUE;

// A document is known by its id, a hash of corpus, source and record.
CREATE CONSTRAINT kgp_document_id IF NOT EXISTS FOR (d:Document) REQUIRE d.id IS UNIQUE;

// The documents of one corpus are found without a scan.
CREATE INDEX kgp_document_corpus IF NOT EXISTS FOR (d:Document) ON (d.corpus);

// Documents of the same title are told apart, files of the same contents are one document.
CREATE INDEX kgp_document_title IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.title);
CREATE INDEX kgp_document_contents IF NOT EXISTS FOR (d:Document) ON (d.corpus, d.contents);

// A further source of a document is known by its id, the one that a document of its own would have.
CREATE CONSTRAINT kgp_document_source_id IF NOT EXISTS FOR (s:DocumentSource) REQUIRE s.id IS UNIQUE;

// A passage is known by its id, a hash of its document, position and text.
CREATE CONSTRAINT kgp_passage_id IF NOT EXISTS FOR (p:Passage) REQUIRE p.id IS UNIQUE;

// The passages of one corpus are found without a scan.
CREATE INDEX kgp_passage_corpus IF NOT EXISTS FOR (p:Passage) ON (p.corpus);

// Full-text search over title and text of the small corpora in English; `scope` is one token per
// corpus that narrows the search.
CREATE FULLTEXT INDEX kgp_passage_english IF NOT EXISTS
FOR (p:EnglishPassage) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};

// Full-text search over passages with Chinese, Japanese or Korean text: by pairs of characters, since
// these scripts write no spaces between words or join particles to them.
CREATE FULLTEXT INDEX kgp_passage_cjk IF NOT EXISTS
FOR (p:CjkPassage) ON EACH [p.title, p.text, p.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};

// A page is known by its id, a hash of its document and number.
CREATE CONSTRAINT kgp_page_id IF NOT EXISTS FOR (p:Page) REQUIRE p.id IS UNIQUE;

// The pages of one corpus, by number.
CREATE INDEX kgp_page_corpus IF NOT EXISTS FOR (p:Page) ON (p.corpus, p.number);

// A keyword is known by its text within its corpus.
CREATE CONSTRAINT kgp_keyword_text IF NOT EXISTS
FOR (k:Keyword) REQUIRE (k.corpus, k.text) IS UNIQUE;

// A named entity, which no document is about, is known by its name within its corpus.
CREATE CONSTRAINT kgp_named_entity_name IF NOT EXISTS
FOR (e:NamedEntity) REQUIRE (e.corpus, e.name) IS UNIQUE;

// A kept question is known by its id.
CREATE CONSTRAINT kgp_question_id IF NOT EXISTS FOR (q:Question) REQUIRE q.id IS UNIQUE;
