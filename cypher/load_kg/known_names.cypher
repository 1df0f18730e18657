// loadKg.knownNames() :: (labels :: LIST OF STRING, properties :: LIST OF STRING)
// The labels and property keys that the database has seen.
// mode: READ
CALL () {
  CALL db.labels() YIELD label
  RETURN collect(label) AS labels
}
CALL () {
  CALL db.propertyKeys() YIELD propertyKey
  RETURN collect(propertyKey) AS properties
}
RETURN labels, properties
