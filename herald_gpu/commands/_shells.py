"""Scripts that complete the command in a shell, written from its parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from herald_gpu.commands._parser import abouts_of, commands_of, is_flag, repeats, takes_many, takes_path, words_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from herald_gpu.commands._parser import CommandParser

BASH = r"""# Completion of herald in bash, 3.2 or later.
_herald() {
    local IFS=$'\n'
    local current=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1)) command=${COMP_WORDS[1]} option='' kind=''
    local key=''
    if [[ $current == '=' ]]; then current=''; elif [[ ${COMP_WORDS[before]} == '=' ]]; then before=$((before - 1)); fi
    # KEY=VALUE comes as three words, of which only the last is to be replaced; --option=VALUE as well.
    if [[ ${COMP_WORDS[before + 1]} == '=' && ${COMP_WORDS[before]} != --* ]] && ((before > 1)); then
        key="${COMP_WORDS[before]}="
        before=$((before - 1))
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$(_herald_words commands)" -- "$current"))
        return
    fi
    # The option that the word belongs to: the one before it, or further back if that takes several values.
    option=${COMP_WORDS[before]}
    while [[ $option != --* ]] && ((before > 1)); do
        before=$((before - 1))
        option=${COMP_WORDS[before]}
        [[ $option == --* && $(_herald_kind "$command $option") != several* ]] && option='' && break
    done
    kind=$(_herald_kind "$command $option")
    if [[ $current == --* ]]; then
        COMPREPLY=($(compgen -W "$(_herald_words "$command options")" -- "$current"))
        return
    fi
    [[ $option != --* || $kind == flag ]] && option='' && kind=$(_herald_kind "$command")
    local known="$command${option:+ }$option"
    [[ $key$current == *=* ]] && known+=' ='
    [[ -z $option ]] && ((COMP_CWORD > 2)) && known+=' later'
    COMPREPLY=($(compgen -W "$(_herald_words "$known")" -- "$key$current"))
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
    [[ -n $key && ${#COMPREPLY[@]} -gt 0 ]] && COMPREPLY=("${COMPREPLY[@]#"$key"}")
    if [[ $kind == *path ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}
_herald_words() {
    case "$1" in
@words
    esac
}
_herald_kind() {
    case "$1" in
@kinds
    esac
}
complete -F _herald herald
"""

ZSH = r"""#compdef herald
# Completion of herald in zsh.
_herald() {
    local -a commands
    commands=(
@commands
    )
    if ((CURRENT == 2)); then
        _describe -t commands command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
@cases
    esac
}
if [[ $funcstack[1] == _herald ]]; then _herald "$@"; else compdef _herald herald; fi
"""


def bash(parser: argparse.ArgumentParser) -> str:
    """Write the script for bash."""
    words, kinds = [_case("commands", commands_of(parser))], []
    for name, command in commands_of(parser).items():
        options = [action for action in command.arguments if action.option_strings]
        places = [action for action in command.arguments if not action.option_strings]
        words.append(_case(f"{name} options", ["--help", *(text for one in options for text in one.option_strings)]))
        words.append(_case(name, [word for one in places[:1] for word in words_of(one)]))
        words.append(_case(f"{name} later", [word for one in places for word in words_of(one)]))
        if any(map(takes_path, places)):
            kinds.append(f"        {_quoted(name)}) echo path ;;")
        for action in options:
            kind = "flag" if is_flag(action) else ("several" if takes_many(action) else "one")
            kind += "-path" if kind != "flag" and takes_path(action) else ""
            for text in action.option_strings:
                kinds.append(f"        {_quoted(f'{name} {text}')}) echo {kind} ;;")
                first, then = _in_two(action)
                words += [_case(f"{name} {text}", first), _case(f"{name} {text} =", then)]
    return BASH.replace("@words", "\n".join(filter(None, words))).replace("@kinds", "\n".join(kinds))


def zsh(parser: argparse.ArgumentParser) -> str:
    """Write the script for zsh."""
    abouts = abouts_of(parser)
    commands = "\n".join(f"        {_quoted(f'{name}:{about}')}" for name, about in abouts.items())
    cases = []
    for name, command in commands_of(parser).items():
        lines = " \\\n".join(f"                {spec}" for spec in _zsh_specs(command))
        cases.append(f"        {name})\n            _arguments \\\n{lines}\n            ;;")
    return ZSH.replace("@commands", commands).replace("@cases", "\n".join(cases))


def fish(parser: argparse.ArgumentParser) -> str:
    """Write the script for fish."""
    lines = ["# Completion of herald in fish.", "complete -c herald -f"]
    for name, about in abouts_of(parser).items():
        lines.append(f"complete -c herald -n __fish_use_subcommand -a {name} -d {_fish_quoted(about)}")
    for name, command in commands_of(parser).items():
        seen = f"complete -c herald -n '__fish_seen_subcommand_from {name}'"
        lines.append(f"{seen} -l help -d 'show the help'")
        for action in command.arguments:
            chosen = _fish_words(action)
            if not action.option_strings:
                values = chosen or ("-F" if takes_path(action) else "")
                lines += [f"{seen} {values}"] if values else []
                continue
            values = "" if is_flag(action) else ("-r -F " if takes_path(action) else f"-x {chosen} ".replace("  ", " "))
            names = " ".join(f"-l {text.lstrip('-')}" for text in action.option_strings)
            lines.append(f"{seen} {names} {values}-d {_fish_quoted(_about(action))}")
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[argparse.ArgumentParser], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _case(name: str, words: Iterable[str]) -> str:
    listed = " ".join(_quoted(word) for word in words)
    return f"        {_quoted(name)}) printf '%s\\n' {listed} ;;" if listed else ""


def _zsh_specs(command: CommandParser) -> Iterator[str]:
    yield "'--help[show the help]'"
    for place, action in enumerate(one for one in command.arguments if not one.option_strings):
        many = takes_many(action)
        yield _quoted(f"{'*' if many else place + 1}:{action.dest}:{_zsh_values(action)}")
    for action in command.arguments:
        for text in action.option_strings:
            about = re.sub(r"([\[\]:\\])", r"\\\1", _about(action))
            value = "" if is_flag(action) else f":{action.dest}:{_zsh_values(action)}"
            # Of an option with several values, all up to the next option are its own.
            value = f":*--*{value}" if takes_many(action) else value
            again = "*" if repeats(action) else ""
            yield _quoted(f"{again}{text}[{about}]{value}")


def _zsh_values(action: argparse.Action) -> str:
    words, then = _in_two(action)
    if then:
        keys, whole = (" ".join(map(_quoted, part)) for part in (words, then))
        return f"{{if [[ $PREFIX == *=* ]]; then compadd -- {whole}; else compadd -S '' -- {keys}; fi}}"
    if words:
        return f"({' '.join(words)})"
    return "_files" if takes_path(action) else " "


def _fish_words(action: argparse.Action) -> str:
    words, then = _in_two(action)
    if then:
        either = f"string match -q '*=*' -- (commandline -ct); and echo {' '.join(then)}; or echo {' '.join(words)}"
        return f"-a \"(begin; {either}; end | string split ' ')\""
    return f"-a '{' '.join(words)}'" if words else ""


def _in_two(action: argparse.Action) -> tuple[list[str], list[str]]:
    """Part words into those for a beginning, and those that take the place of ``KEY=`` once that is written."""
    words = words_of(action)
    keys = [word for word in words if word.endswith("=")]
    return (keys, [word for word in words if word not in keys]) if keys else (words, [])


def _about(action: argparse.Action) -> str:
    """First part of the help, with its defaults left out."""
    return (
        re.sub(r"\s*\(default (?:%\(default\)s|[^)]*)\)", "", action.help or "").replace("%%", "%").strip()
        or action.dest
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
