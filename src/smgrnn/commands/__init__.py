"""The commands of `smgrnn`, one file each; `cli.py` parses."""
