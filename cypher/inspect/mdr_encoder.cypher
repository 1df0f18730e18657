// inspect.mdrEncoder(corpus :: STRING) :: (encoder :: STRING, dimension :: INT, fingerprint :: STRING)
// The MDR encoder that a corpus is embedded with: its folder, its dimension and the first figures of
// its weights' SHA-256; no row where there is none.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WHERE c.mdrEncoder IS NOT NULL
RETURN c.mdrEncoder AS encoder, c.mdrDimension AS dimension, c.mdrFingerprint AS fingerprint
