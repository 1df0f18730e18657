// load.fileHashes(hashes :: MAP) :: (documents :: INT)
// Notes the sums of the bytes of files whose pages can be shown (by the ids of their documents).
// mode: WRITE
UNWIND keys($hashes) AS id
MATCH (d:Document {id: id})
SET d.fileHash = $hashes[id]
RETURN count(d) AS documents
