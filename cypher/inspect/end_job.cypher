// inspect.endJob(job :: STRING) :: (transaction :: STRING, message :: STRING)
// Ends the transactions that run for a job of the driver, which stands in their metadata.
// mode: READ
SHOW TRANSACTIONS YIELD transactionId AS found, metaData
WHERE metaData.kgp_job = $job
TERMINATE TRANSACTIONS found YIELD transactionId, message
RETURN transactionId AS transaction, message
