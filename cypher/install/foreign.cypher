// install.foreign() :: (nodes :: BOOLEAN)
// Whether the database has any node besides the one that says what is installed.
// mode: READ
RETURN EXISTS { MATCH (n) WHERE NOT n:KgpInstallation } AS nodes
