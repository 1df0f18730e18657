// connect.mdrEncoder(corpus :: STRING, encoder :: STRING, dimension :: INT, fingerprint :: STRING) :: (encoder :: STRING, dimension :: INT, fingerprint :: STRING)
// Writes down which MDR encoder a corpus is embedded with, unless one is there, and returns the one
// there; the same weights (`fingerprint`) in another folder are found there from now on.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.mdrDimension = coalesce(c.mdrDimension, $dimension),
    c.mdrFingerprint = coalesce(c.mdrFingerprint, $fingerprint)
SET c.mdrEncoder = CASE c.mdrFingerprint WHEN $fingerprint THEN $encoder ELSE c.mdrEncoder END
RETURN c.mdrEncoder AS encoder, c.mdrDimension AS dimension, c.mdrFingerprint AS fingerprint
