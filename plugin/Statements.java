package kgp;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Result;
import org.neo4j.graphdb.Transaction;

/** Runs the statements of kgp-neo4j, which are resources of this jar, in a procedure's transaction. */
final class Statements {
    private static final Map<String, String> TEXTS = new ConcurrentHashMap<>();

    private Statements() {}

    /**
     * Returns the rows of a statement. Its check runs before, whose first row says what is wrong with
     * the parameters, given as names and values in turn.
     */
    static Stream<Map<String, Object>> run(Transaction transaction, String name, Object... given) {
        Map<String, Object> parameters = new HashMap<>();
        for (int at = 0; at < given.length; at += 2) {
            parameters.put((String) given[at], withIds(given[at + 1]));
        }
        String check = text(name + ".check");
        if (!check.isEmpty()) {
            try (Result wrong = transaction.execute(check, parameters)) {
                if (wrong.hasNext()) {
                    throw new IllegalArgumentException((String) wrong.next().get("wrong"));
                }
            }
        }
        Result rows = transaction.execute(text(name), parameters);
        return rows.stream().onClose(rows::close);
    }

    /** Returns a value with the id of each node in its place: the statements take ids. */
    private static Object withIds(Object value) {
        if (value instanceof Node node) {
            return node.getProperty("id", null);
        }
        if (value instanceof List<?> list) {
            List<Object> ids = new ArrayList<>(list.size());
            list.forEach(one -> ids.add(withIds(one)));
            return ids;
        }
        return value;
    }

    static Double asFloat(Object value) {
        return value == null ? null : (Double) ((Number) value).doubleValue();
    }

    /** Returns a list; a property that holds one comes as an array. */
    @SuppressWarnings("unchecked")
    static <T> List<T> asList(Object value) {
        if (value == null || value instanceof List) {
            return (List<T>) value;
        }
        List<Object> list = new ArrayList<>();
        for (int at = 0; at < Array.getLength(value); at++) {
            list.add(Array.get(value, at));
        }
        return (List<T>) list;
    }

    private static String text(String name) {
        return TEXTS.computeIfAbsent(name, Statements::read);
    }

    private static String read(String name) {
        try (InputStream file = Statements.class.getResourceAsStream(name + ".cypher")) {
            return file == null ? "" : new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
