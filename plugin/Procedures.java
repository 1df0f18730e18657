// Made from the headers of cypher/procedures/ by `python -m kgp_neo4j.graphdb.plugin`; do not edit.
package kgp;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Relationship;
import org.neo4j.graphdb.Transaction;
import org.neo4j.procedure.Context;
import org.neo4j.procedure.Description;
import org.neo4j.procedure.Mode;
import org.neo4j.procedure.Name;
import org.neo4j.procedure.Procedure;

/** The stored procedures custom.kgp.*: each runs the statement of its name. */
public final class Procedures {
    @Context
    public Transaction transaction;

    public static final class AroundTableRow {
        public final Node passage;
        public final String place;

        AroundTableRow(Map<String, Object> row) {
            passage = (Node) row.get("passage");
            place = (String) row.get("place");
        }
    }

    @Procedure(name = "custom.kgp.aroundTable", mode = Mode.READ)
    @Description("The passages that hold a table (a node or its id), and those before and after. Configuration: count (1; 0 to 1000), how many passages before and after.")
    public Stream<AroundTableRow> aroundTable(
            @Name("table") Object table,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "aroundTable", "table", table, "configuration", configuration)
                .map(AroundTableRow::new);
    }

    public static final class CellsRow {
        public final Node cell;
        public final String rowTitle;
        public final String columnTitle;
        public final String text;
        public final Double value;

        CellsRow(Map<String, Object> row) {
            cell = (Node) row.get("cell");
            rowTitle = (String) row.get("rowTitle");
            columnTitle = (String) row.get("columnTitle");
            text = (String) row.get("text");
            value = Statements.asFloat(row.get("value"));
        }
    }

    @Procedure(name = "custom.kgp.cells", mode = Mode.READ)
    @Description("The cells of a table (a node or its id) where a row and a column meet. Configuration: row (''), the number of a row or the text of a cell in it; all rows when empty; column (''), the number of a column, its name or a part of it; all columns when empty.")
    public Stream<CellsRow> cells(
            @Name("table") Object table,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "cells", "table", table, "configuration", configuration)
                .map(CellsRow::new);
    }

    public static final class EntityNeighboursRow {
        public final Node entity;
        public final Relationship edge;
        public final Node neighbour;
        public final String relation;
        public final Boolean outward;

        EntityNeighboursRow(Map<String, Object> row) {
            entity = (Node) row.get("entity");
            edge = (Relationship) row.get("edge");
            neighbour = (Node) row.get("neighbour");
            relation = (String) row.get("relation");
            outward = (Boolean) row.get("outward");
        }
    }

    @Procedure(name = "custom.kgp.entityNeighbours", mode = Mode.READ)
    @Description("One hop round an entity (a node, its id or its name): those relationship types first that it has fewest of, and the neighbours that have fewest relationships, so that a hub shows some of everything. At most 20,000 relationships are looked at. Configuration: relations ([]), the relationship types to follow; all when empty; limit (25; 0 to 20000), how many neighbours at most.")
    public Stream<EntityNeighboursRow> entityNeighbours(
            @Name("entity") Object entity,
            @Name("graph") String graph,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "entityNeighbours", "entity", entity, "graph", graph, "configuration", configuration)
                .map(EntityNeighboursRow::new);
    }

    public static final class EvidenceRow {
        public final String kind;
        public final Node entity;
        public final Node source;
        public final Relationship edge;
        public final Node neighbour;
        public final Double score;

        EvidenceRow(Map<String, Object> row) {
            kind = (String) row.get("kind");
            entity = (Node) row.get("entity");
            source = (Node) row.get("source");
            edge = (Relationship) row.get("edge");
            neighbour = (Node) row.get("neighbour");
            score = Statements.asFloat(row.get("score"));
        }
    }

    @Procedure(name = "custom.kgp.evidence", mode = Mode.READ)
    @Description("MindMap's neighbour-based exploration (section 3.1) of several entities at once: one hop round each (nodes, ids or names; the first twelve count), and on from the neighbours that several of them share or that are near the question, ranked. A neighbour scores by the entities that it touches, each the less the more relationships it has; with the question's `vector`, by its embedding too; what is a hop further gathers a share of all that leads to it. `kind` is `path` where a row lies between two of the entities. Configuration: limit (30; 1 to 10000), how many rows at most; vector ([]), the question's embedding; relations ({}), a weight for each relationship type; 1 for those not named; weights ([]), a weight for each entity; 1 for those not given; expand (20; 0 to 1000), how many neighbours to go on from; fan (2000; 10 to 100000), how many relationships of each entity to look at.")
    public Stream<EvidenceRow> evidence(
            @Name("entities") List<Object> entities,
            @Name("graph") String graph,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "evidence", "entities", entities, "graph", graph, "configuration", configuration)
                .map(EvidenceRow::new);
    }

    public static final class HelpRow {
        public final String task;
        public final String procedure;
        public final String description;
        public final String signature;
        public final String example;

        HelpRow(Map<String, Object> row) {
            task = (String) row.get("task");
            procedure = (String) row.get("procedure");
            description = (String) row.get("description");
            signature = (String) row.get("signature");
            example = (String) row.get("example");
        }
    }

    @Procedure(name = "custom.kgp.help", mode = Mode.READ)
    @Description("What custom.kgp.* offers: every procedure, by what it is for, with description, signature, example.")
    public Stream<HelpRow> help() {
        return Statements.run(transaction, "help")
                .map(HelpRow::new);
    }

    public static final class LinkEntitiesRow {
        public final Node entity;
        public final Double score;
        public final String surface;
        public final String by;

        LinkEntitiesRow(Map<String, Object> row) {
            entity = (Node) row.get("entity");
            score = Statements.asFloat(row.get("score"));
            surface = (String) row.get("surface");
            by = (String) row.get("by");
        }
    }

    @Procedure(name = "custom.kgp.linkEntities", mode = Mode.READ)
    @Description("The entities of a knowledge graph that a text names: those whose name stands in it with all its symbols (`by` is name, the longest counts), then those whose name or alias shares most words or pairs of Chinese characters with it (`by` is words, `score` a share of the best). Python links word forms, slips and meanings too. Configuration: limit (10; 0 to 10000), how many at most.")
    public Stream<LinkEntitiesRow> linkEntities(
            @Name("text") String text,
            @Name("graph") String graph,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "linkEntities", "text", text, "graph", graph, "configuration", configuration)
                .map(LinkEntitiesRow::new);
    }

    public static final class PageRow {
        public final Node page;
        public final String label;
        public final String text;
        public final String header;
        public final String footer;
        public final List<Node> tables;

        PageRow(Map<String, Object> row) {
            page = (Node) row.get("page");
            label = (String) row.get("label");
            text = (String) row.get("text");
            header = (String) row.get("header");
            footer = (String) row.get("footer");
            tables = Statements.asList(row.get("tables"));
        }
    }

    @Procedure(name = "custom.kgp.page", mode = Mode.READ)
    @Description("The content of a page, counted from 1, of a document given by its id, title or source.")
    public Stream<PageRow> page(
            @Name("document") String document,
            @Name("number") Long number,
            @Name("corpus") String corpus) {
        return Statements.run(transaction, "page", "document", document, "number", number, "corpus", corpus)
                .map(PageRow::new);
    }

    public static final class PassageNeighboursRow {
        public final Node neighbour;
        public final Double score;
        public final Relationship edge;
        public final String reason;

        PassageNeighboursRow(Map<String, Object> row) {
            neighbour = (Node) row.get("neighbour");
            score = Statements.asFloat(row.get("score"));
            edge = (Relationship) row.get("edge");
            reason = (String) row.get("reason");
        }
    }

    @Procedure(name = "custom.kgp.passageNeighbours", mode = Mode.READ)
    @Description("The neighbours of a passage (a node or its id), with the edge that says most about each, and the reason. Configuration: edges ([]), the types of edges to follow; all when empty; limit (10; 0 to 10000), how many at most.")
    public Stream<PassageNeighboursRow> passageNeighbours(
            @Name("passage") Object passage,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "passageNeighbours", "passage", passage, "configuration", configuration)
                .map(PassageNeighboursRow::new);
    }

    public static final class PathsRow {
        public final List<Node> path;
        public final Double score;
        public final List<Relationship> edges;
        public final Long hops;

        PathsRow(Map<String, Object> row) {
            path = Statements.asList(row.get("path"));
            score = Statements.asFloat(row.get("score"));
            edges = Statements.asList(row.get("edges"));
            hops = (Long) row.get("hops");
        }
    }

    @Procedure(name = "custom.kgp.paths", mode = Mode.READ)
    @Description("MindMap's path-based exploration (section 3.1): from each entity to the nearest of the others within `maxHops`, over relationships in both directions, on from there, and afresh from an entity that is not reached. Segments are joined where they meet. Shortest paths come first, and among those of one length the ones whose inner entities touch most of the given ones: `score` is one more than these, divided by the hops. Entities are nodes, ids or names; the first twelve count. Configuration: maxHops (5; 1 to 10), how long a segment between two entities may be; limit (10; 1 to 1000), how many paths at most, and shortest paths of each pair; timeout (1000; 1 to 600000), milliseconds after which the search ends with what it has.")
    public Stream<PathsRow> paths(
            @Name("entities") List<Object> entities,
            @Name("graph") String graph,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "paths", "entities", entities, "graph", graph, "configuration", configuration)
                .map(PathsRow::new);
    }

    public static final class RelationPathRow {
        public final Node end;
        public final List<Node> path;
        public final List<Relationship> edges;

        RelationPathRow(Map<String, Object> row) {
            end = (Node) row.get("end");
            path = Statements.asList(row.get("path"));
            edges = Statements.asList(row.get("edges"));
        }
    }

    @Procedure(name = "custom.kgp.relationPath", mode = Mode.READ)
    @Description("Where a relation path leads from an entity (a node, its id or its name): each end with one way to it. `relations` are relationship types in the order in which they are followed; one is followed along its direction, or against it where it begins with `<`. Configuration: relations ([]), the relationship types in order, one to four; without them all that are one step away; limit (25; 0 to 10000), how many ends at most.")
    public Stream<RelationPathRow> relationPath(
            @Name("entity") Object entity,
            @Name("graph") String graph,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "relationPath", "entity", entity, "graph", graph, "configuration", configuration)
                .map(RelationPathRow::new);
    }

    public static final class RetrieveRow {
        public final Long rank;
        public final Node passage;
        public final Double score;
        public final List<Node> path;

        RetrieveRow(Map<String, Object> row) {
            rank = (Long) row.get("rank");
            passage = (Node) row.get("passage");
            score = Statements.asFloat(row.get("score"));
            path = Statements.asList(row.get("path"));
        }
    }

    @Procedure(name = "custom.kgp.retrieve", mode = Mode.READ)
    @Description("KGP's Algorithm 1 with the lexical agent, wholly inside the database: seeds by full text and named titles, then hop by hop the neighbours that share most words with the question. `path` holds the passages that led to the passage, and the passage itself. Configuration: budget (30; 1 to 1000), how many passages to return; seeds (8; 1 to 1000), how many passages to start from; branching (5; 1 to 100), how many new passages each path visits in a hop; hops (2; 0 to 2), how many hops to make; named (0.3; 0 to 1), what a seed gains where the question names its title; outward (0.4; 0 to 1), the share of its match that a passage passes on to one whose title it names; inward (0.2; 0 to 1), the same against the edge.")
    public Stream<RetrieveRow> retrieve(
            @Name("question") String question,
            @Name("corpus") String corpus,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "retrieve", "question", question, "corpus", corpus, "configuration", configuration)
                .map(RetrieveRow::new);
    }

    public static final class SeedsRow {
        public final Node passage;
        public final Double score;

        SeedsRow(Map<String, Object> row) {
            passage = (Node) row.get("passage");
            score = Statements.asFloat(row.get("score"));
        }
    }

    @Procedure(name = "custom.kgp.seeds", mode = Mode.READ)
    @Description("The passages of a corpus nearest to a question by full-text search (BM25), best first. Configuration: limit (10; 0 to 10000), how many at most.")
    public Stream<SeedsRow> seeds(
            @Name("question") String question,
            @Name("corpus") String corpus,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "seeds", "question", question, "corpus", corpus, "configuration", configuration)
                .map(SeedsRow::new);
    }

    public static final class SeedsByVectorRow {
        public final Node passage;
        public final Double score;

        SeedsByVectorRow(Map<String, Object> row) {
            passage = (Node) row.get("passage");
            score = Statements.asFloat(row.get("score"));
        }
    }

    @Procedure(name = "custom.kgp.seedsByVector", mode = Mode.READ)
    @Description("The passages of a corpus nearest to a vector by cosine similarity, best first. Configuration: limit (10; 0 to 10000), how many at most.")
    public Stream<SeedsByVectorRow> seedsByVector(
            @Name("vector") List<Double> vector,
            @Name("corpus") String corpus,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        return Statements.run(transaction, "seedsByVector", "vector", vector, "corpus", corpus, "configuration", configuration)
                .map(SeedsByVectorRow::new);
    }

    public static final class ShowRow {
        public final Node node;
        public final Relationship edge;
        public final Node neighbour;

        ShowRow(Map<String, Object> row) {
            node = (Node) row.get("node");
            edge = (Relationship) row.get("edge");
            neighbour = (Node) row.get("neighbour");
        }
    }

    @Procedure(name = "custom.kgp.show", mode = Mode.READ)
    @Description("Nodes (or their ids) as a graph, edge by edge: passages with their documents and the edges between them, entities with what joins them, documents with their pages and what is on these, pages likewise, tables with their columns and first rows.")
    public Stream<ShowRow> show(
            @Name("nodes") List<Object> nodes) {
        return Statements.run(transaction, "show", "nodes", nodes)
                .map(ShowRow::new);
    }

    public static final class TableRow {
        public final Long number;
        public final Long pageNumber;
        public final List<String> cells;

        TableRow(Map<String, Object> row) {
            number = (Long) row.get("number");
            pageNumber = (Long) row.get("pageNumber");
            cells = Statements.asList(row.get("cells"));
        }
    }

    @Procedure(name = "custom.kgp.table", mode = Mode.READ)
    @Description("A table as rows, header rows (numbered 0 and less) first: the table with that printed number, or, where none has it, the one at that place in the document.")
    public Stream<TableRow> table(
            @Name("document") String document,
            @Name("number") String number,
            @Name("corpus") String corpus) {
        return Statements.run(transaction, "table", "document", document, "number", number, "corpus", corpus)
                .map(TableRow::new);
    }

    public static final class TablesRow {
        public final Node table;
        public final String name;
        public final String caption;
        public final List<Long> pageNumbers;
        public final Long rows;
        public final List<String> columns;

        TablesRow(Map<String, Object> row) {
            table = (Node) row.get("table");
            name = (String) row.get("name");
            caption = (String) row.get("caption");
            pageNumbers = Statements.asList(row.get("pageNumbers"));
            rows = (Long) row.get("rows");
            columns = Statements.asList(row.get("columns"));
        }
    }

    @Procedure(name = "custom.kgp.tables", mode = Mode.READ)
    @Description("The tables of a document given by its id, title or source, in their order.")
    public Stream<TablesRow> tables(
            @Name("document") String document,
            @Name("corpus") String corpus) {
        return Statements.run(transaction, "tables", "document", document, "corpus", corpus)
                .map(TablesRow::new);
    }

    public static final class TraceRow {
        public final Node question;
        public final Relationship visit;
        public final Node passage;
        public final Relationship edge;
        public final Node neighbour;

        TraceRow(Map<String, Object> row) {
            question = (Node) row.get("question");
            visit = (Relationship) row.get("visit");
            passage = (Node) row.get("passage");
            edge = (Relationship) row.get("edge");
            neighbour = (Node) row.get("neighbour");
        }
    }

    @Procedure(name = "custom.kgp.trace", mode = Mode.READ)
    @Description("A stored traversal as a graph, by its id or the first characters of it (of several, the latest): the passages in the order in which they were visited, each with the other one before it on its path and the edge between the two, where there is one. `ask --trace` stores them.")
    public Stream<TraceRow> trace(
            @Name("trace") String trace) {
        return Statements.run(transaction, "trace", "trace", trace)
                .map(TraceRow::new);
    }

    public static final class VersionRow {
        public final String statements = "2c5a0cff4a3bff20";
    }

    @Procedure(name = "custom.kgp.version", mode = Mode.READ)
    @Description("A fingerprint of the statements, by which kgp-neo4j knows its own.")
    public Stream<VersionRow> version() {
        return Stream.of(new VersionRow());
    }
}
