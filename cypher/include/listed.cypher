// The texts `names` in one, with a comma between each two. An expression.
substring(reduce(text = '', name IN names | text + ', ' + name), 2)
