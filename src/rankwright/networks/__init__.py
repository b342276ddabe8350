"""Small layered nets with one output, trained by gradient descent. Knows no ranking."""
