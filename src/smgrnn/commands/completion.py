"""`smgrnn completion`: a script that completes commands, options and their choices in a shell."""

from argparse import Namespace

from smgrnn.commands.output import Output
from smgrnn.errors import ConfigError

CASES = 'case "$before" in\n{values}\n  *) case "$line" in\n{lines}\n  esac ;;\n  esac'
SCRIPTS = {
    "bash": "_smgrnn() {\n"
    '  local before="${COMP_WORDS[COMP_CWORD-1]}" line="${COMP_WORDS[*]:1:COMP_CWORD-1} " found\n'
    f"  {CASES}\n"
    '  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))\n'
    "}\ncomplete -o default -F _smgrnn smgrnn",
    "zsh": "#compdef smgrnn\n"
    'local before="$words[CURRENT-1]" line="${words[2,CURRENT-1]} " found\n'
    f"  {CASES}\n"
    "compadd -- ${=found} || _files",
    "fish": "function __smgrnn\n  set -l before (commandline -opc)[-1]\n"
    '  set -l line (string join " " -- (commandline -opc)[2..])" "\n'
    '  switch "$before"\n{values}\n  case "*"\n    switch "$line"\n{lines}\n    end\n  end\n'
    'end\ncomplete -c smgrnn -a "(__smgrnn)"',
}
FISH_CASE, CASE = '  case "{}{}"\n    string split " " -- "{}"', '  "{}"{}) found="{}" ;;'

OPTIONS = """
SHELL                 bash, zsh or fish
"""


def run(args: Namespace, output: Output) -> None:
    """Print the script."""
    if args.shell not in SCRIPTS:
        raise ConfigError(f"The shell must be bash, zsh or fish. Got {args.shell!r} instead.")
    values: dict[str, str] = {}
    lines: dict[str, str] = {}
    for command in args.program.leaves():
        words = [word for action in command._actions for word in action.option_strings]
        lines[f"{command.prog.removeprefix('smgrnn ')} "] = " ".join(words)
        for action in command._actions:
            if action.choices:
                values |= dict.fromkeys(action.option_strings, " ".join(action.choices))
    lines["expert "] = " ".join(args.program.commands["expert"].commands)
    lines[""] = " ".join(args.program.commands)  # last, as every line begins with it
    case, script = FISH_CASE if args.shell == "fish" else CASE, SCRIPTS[args.shell]
    for name, found, end in (("values", values, ""), ("lines", lines, "*")):
        cases = "\n".join(case.format(each, end, words) for each, words in found.items())
        script = script.replace(f"{{{name}}}", cases)
    if output.as_json:
        output.result("", {"script": script})
    elif not output.quiet:
        print(script)
