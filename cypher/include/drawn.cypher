// A number from 0 to 1 that is spread evenly, and the same in every run for the node `n` and the number
// `step.draw`. An expression: the draw times the last digits of the id, modulo a prime number.
step.draw * reduce(number = 0, digit IN split(right(n.id, 7), '') |
  16 * number + size(split('0123456789abcdef', digit)[0])) % 2147483647 / 2147483647.0
