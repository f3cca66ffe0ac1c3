"""`python -m smgrnn` is the `smgrnn` command."""

from smgrnn.cli import main

main()
