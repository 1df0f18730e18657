// check.configuration(configuration :: MAP) :: (wrong :: STRING)
// Says which keys are no options of the procedure, and which values of another type or out of range.
// mode: READ
WITH
  // include: options
  AS options, coalesce($configuration, {}) AS given
WITH options, given, COLLECT { UNWIND keys(options) AS key RETURN key ORDER BY key } AS names
UNWIND keys(given) AS key
WITH key, options[key] AS option, given[key] AS value, names ORDER BY key
WITH CASE
  WHEN option IS NULL THEN 'there is no option ' + key + ' (there are: ' +
    // include: listed
    + ')'
  WHEN value IS NULL THEN null
  WHEN NOT valueType(value) =~ option.type + '.*' THEN key + ' is no ' + option.said
  WHEN value < option.low OR value > option.high
  THEN key + ' is ' + toString(value) + ', not ' + toString(option.low) + ' to '
    + toString(option.high) END AS reason
WITH collect(reason) AS reasons
WHERE size(reasons) > 0
RETURN substring(reduce(text = '', reason IN reasons | text + '; ' + reason), 2) AS wrong
