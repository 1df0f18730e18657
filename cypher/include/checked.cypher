// The rows of the checks of a statement, in their order.
CALL () {
...
}
// What is said of null is null.
RETURN coalesce(wrong, 'a parameter is null') AS wrong
