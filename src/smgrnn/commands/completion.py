"""`smgrnn completion`: a script by which a shell completes the command line."""

import json
from pathlib import Path

from smgrnn.commands.output import Output
from smgrnn.storage import check_folder_of, writing


def mended(script: str) -> str:
    """Return a script of tyro's whose descriptions are one line, and which leaves paths to bash.

    A second line of a description was taken for a completion, and paths were cut at their blanks.
    """
    lines = [
        line.replace("\\n", " ") if line.startswith("COMPLETION_SPEC = ") else line
        for line in script.splitlines()
    ]
    whole = "\n".join(lines).strip() + "\n"
    whole = whole.replace('COMPREPLY=($(compgen -f -- "$cur"))', "COMPREPLY=()")
    return whole.replace("complete -F _tyro_smgrnn", "complete -o default -F _tyro_smgrnn")


def completion_command(script: str, out: Path | None, output: Output) -> None:
    """Print the script, letter for letter, or write it to a file."""
    if out is not None:
        check_folder_of(out)
        with writing(out):
            out.write_text(script, encoding="utf-8")
        output.result(str(out), {"file": str(out)})
    elif output.as_json:
        print(json.dumps({"script": script}))
    elif not output.quiet:
        print(script, end="")
