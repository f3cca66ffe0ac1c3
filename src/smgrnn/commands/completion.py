"""`smgrnn completion`: a script by which a shell completes the command line."""

import json
from pathlib import Path

from smgrnn.commands.output import print_result
from smgrnn.storage import check_folder_of, writing


def completion_command(
    script: str, out: Path | None, *, as_json: bool, is_quiet: bool = False
) -> None:
    """Print the script, letter for letter, or write it to a file."""
    if out is not None:
        check_folder_of(out)
        with writing(out):
            out.write_text(script, encoding="utf-8")
        print_result(str(out), {"file": str(out)}, as_json=as_json, is_quiet=is_quiet)
    elif as_json:
        print(json.dumps({"script": script}))
    elif not is_quiet:
        print(script, end="")
