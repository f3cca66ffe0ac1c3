"""Episodes: the backends that play them, and the table that records them."""
