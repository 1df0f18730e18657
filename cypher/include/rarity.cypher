// How much a title says, the keyword `k`: more the longer and the rarer it is. An expression.
size(split(k.text, ' ')) / (1.0 + log(k.documentFrequency))
