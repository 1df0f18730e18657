// install.listed() :: (name :: STRING, signature :: STRING, description :: STRING, mode :: STRING)
// The procedures custom.kgp.* that the server offers at this moment.
// mode: READ
SHOW PROCEDURES YIELD name, signature, description, mode
WHERE name STARTS WITH 'custom.kgp.'
RETURN name, signature, description, mode
ORDER BY name
