// load.follow(corpus :: STRING, folders :: LIST OF MAP) :: (folders :: INT)
// Notes which files folders have (folder, title, files), so that those that are gone later are known.
// mode: WRITE
UNWIND $folders AS row
MERGE (f:DocumentFolder {corpus: $corpus, folder: row.folder})
SET f.title = row.title, f.files = row.files
RETURN count(f) AS folders
