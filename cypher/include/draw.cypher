// A number from 0 to 1 for the passage `n` in the draw of `step`: a hash, so that it is evenly spread
// and the same in every run. An expression.
reduce(x = 0.0, digit IN split(left(apoc.util.md5([step.draw, n.id]), 8), '') |
  16 * x + apoc.text.indexOf('0123456789abcdef', digit)) / 16 ^ 8
