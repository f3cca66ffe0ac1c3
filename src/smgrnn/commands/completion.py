"""`smgrnn completion`: a script that completes commands, options and their choices in a shell."""

from argparse import Namespace

from smgrnn.commands.options import Parser
from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError
from smgrnn.storage import check_folder_of, writing

CASES = 'case "$before" in\n{options}\n  *) case "$line" in\n{commands}\n  esac ;;\n  esac'
SCRIPTS = {
    "bash": "_smgrnn() {\n"
    '  local before="${COMP_WORDS[COMP_CWORD-1]}" line="${COMP_WORDS[*]:1:COMP_CWORD-1} " found\n'
    f"  {CASES}\n"
    '  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
    "}\ncomplete -o default -F _smgrnn smgrnn\n",
    "zsh": "#compdef smgrnn\n"
    'local before="$words[CURRENT-1]" line="${words[2,CURRENT-1]} " found\n'
    f"  {CASES}\n"
    "compadd -- ${=found} || _files\n",
    "fish": "function __smgrnn\n  set -l before (commandline -opc)[-1]\n"
    '  set -l line (string join " " -- (commandline -opc)[2..])" "\n'
    '  switch "$before"\n{options}\n  case "*"\n    switch "$line"\n{commands}\n    end\n  end\n'
    'end\ncomplete -c smgrnn -a "(__smgrnn)"\n',
}

OPTIONS = """
SHELL                 bash, zsh or fish
--out FILE            write the script to this file instead
"""


def run(args: Namespace, output: Output) -> None:
    """Print the script, or write it to a file."""
    options: dict[str, str] = {}
    commands: dict[str, str] = {}
    _collect(args.program, "", options, commands)
    if args.shell not in SCRIPTS:
        raise ConfigError(
            f"There are scripts for {', '.join(SCRIPTS)}. Got {args.shell!r} instead."
        )
    script = SCRIPTS[args.shell]
    is_fish = args.shell == "fish"
    case = '  case "{}*"\n    string split " " -- "{}"' if is_fish else '  "{}"*) found="{}" ;;'
    for name, found in (("options", options), ("commands", commands)):
        cases = "\n".join(case.format(*each) for each in found.items())
        script = script.replace(f"{{{name}}}", cases)
    if args.out is not None:
        check_folder_of(args.out)
        with writing(args.out):
            args.out.write_text(script, encoding="utf-8")
        output.result(str(args.out), {"file": str(args.out)})
    elif output.as_json:
        output.result("", {"script": script})
    elif not output.quiet:
        print(script, end="")


def _collect(parser: Parser, line: str, options: dict[str, str], commands: dict[str, str]) -> None:
    """Note the choices of each option, and the words that may follow each command."""
    parser.load()
    words = list(parser.commands)
    for name, command in parser.commands.items():
        _collect(command, f"{line}{name} ", options, commands)
    for action in parser._actions:
        words += action.option_strings
        if action.choices and not parser.commands:
            choices = " ".join(action.choices)
            options.update(dict.fromkeys(action.option_strings, choices))
            words += [] if action.option_strings else action.choices
    commands[line] = " ".join(words)  # after longer lines, of which it is the beginning
