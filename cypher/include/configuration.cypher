// Raises an error that names each key of $configuration that is no option of the procedure, and each
// value that is of another type or out of range. Leaves no variables.
CALL () {
  WITH
    // include: options
    AS options, coalesce($configuration, {}) AS given
  WITH options, given, [key IN apoc.coll.sort(keys(given)) | CASE
    WHEN options[key] IS NULL THEN 'there is no option ' + key + ' (there are: '
      + apoc.text.join(apoc.coll.sort(keys(options)), ', ') + ')'
    WHEN given[key] IS NULL THEN null
    WHEN NOT valueType(given[key]) =~ options[key].type + '.*'
    THEN key + ' is no ' + options[key].said
    WHEN given[key] < options[key].low OR given[key] > options[key].high
    THEN key + ' is ' + toString(given[key]) + ', not ' + toString(options[key].low) + ' to '
      + toString(options[key].high) END] AS reasons
  WITH apoc.text.join([reason IN reasons WHERE reason IS NOT NULL], '; ') AS wrong
  CALL apoc.util.validate(wrong <> '', '%s', [wrong])
  RETURN count(*) AS checked
}
