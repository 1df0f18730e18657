// inspect.gdsProgress(task :: STRING) :: (percent :: FLOAT)
// How far a running GDS job is, in per cent, by the beginning of its task's name.
// mode: READ
CALL gds.listProgress() YIELD taskName, progress, status
WITH trim(taskName) AS name, progress, status
WHERE name STARTS WITH $task AND status = 'RUNNING' AND progress ENDS WITH '%'
RETURN max(toFloat(replace(progress, '%', ''))) AS percent
