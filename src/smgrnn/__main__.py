"""`python -m smgrnn` is the `smgrnn` command."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the working directory, which may be the folder of a stranger

from smgrnn.interrupts import leave_on_interrupt


def main() -> None:
    """Run the command line; as long as there is nothing to save, a Ctrl-C ends it at once."""
    leave_on_interrupt()
    from smgrnn.cli import main as run

    run()


if __name__ == "__main__":
    main()
