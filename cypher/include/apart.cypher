// Of the document `d`: the shortest end of its source's path that no other document of its corpus with the same title
// has, as `apart`; empty where there is no such other.
CALL (d) {
  OPTIONAL MATCH (other:Document {corpus: d.corpus, title: d.title})
  WHERE other.source <> d.source
  WITH split(d.source, '/') AS parts, collect('/' + other.source) AS others
  WITH others, [n IN CASE others WHEN [] THEN [] ELSE range(1, size(parts)) END |
    reduce(path = '', part IN parts[-n..] | path + '/' + part)] AS ends
  RETURN coalesce(substring(head([end IN ends WHERE none(other IN others WHERE other ENDS WITH end)] + ends[-1..]), 1), '') AS apart
}
