"""What each command of `smgrnn` does, and what it prints where."""
