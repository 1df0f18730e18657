// inspect.plugin() :: (statements :: STRING)
// The fingerprint of the statements of the server's custom.kgp.*.
// mode: READ
CALL custom.kgp.version() YIELD statements
RETURN statements
