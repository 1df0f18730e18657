// install.forget() :: (removed :: INT)
// Forgets what is installed.
// mode: WRITE
MATCH (i:KgpInstallation {name: 'kgp-neo4j'})
DELETE i
RETURN count(*) AS removed
