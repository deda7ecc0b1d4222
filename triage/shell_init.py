"""The shell code of ``eval "$(triage init bash)"``: the function `tri`, and completion."""

from __future__ import annotations

from triage.errors import UsageError

__all__ = ["SHELLS", "init_script"]

SHELLS = ("bash", "zsh")

# One argument is a line as it stands: tri 'make | tee log'. Several are the words of a command,
# which `triage run --shell` must find as they were: each is quoted.
_BASH = r"""
tri() {
    if [ "$#" -eq 1 ]; then
        command triage run --shell "$1"
    else
        local line
        printf -v line '%q ' "$@"
        command triage run --shell "$line"
    fi
}

_triage_complete() {
    local IFS=$'\n'
    COMPREPLY=($(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
        _TRIAGE_COMPLETE=complete_bash command triage 2>/dev/null))
}
complete -o default -F _triage_complete triage

_tri_complete() {
    if declare -F _command_offset >/dev/null; then
        _command_offset 1
    elif [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[1]}"))
    fi
}
complete -o default -F _tri_complete tri
"""

_ZSH = r"""
tri() {
    if (( $# == 1 )); then
        command triage run --shell "$1"
    else
        command triage run --shell "${(j: :)${(@q)@}}"
    fi
}

_triage_complete() {
    eval "$(_TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" \
        _TRIAGE_COMPLETE=complete_zsh command triage 2>/dev/null)"
}
if (( $+functions[compdef] )); then
    compdef _triage_complete triage
    compdef _precommand tri
fi
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH}


def init_script(shell: str) -> str:
    """Return the code to evaluate in `shell` ("bash" or "zsh"); raises `UsageError` for others."""
    script = _SCRIPTS.get(shell)
    if script is None:
        raise UsageError("shell", f"there is nothing for {shell!r}", f"use {' or '.join(SHELLS)}")
    return script.lstrip()
