"""One command as text: a POSIX sh line and a PowerShell line, every value exactly one argument.

Nothing here runs anything. Text from a capture may stand in `argv`: quoting is the only thing
between it and a shell, so it is done here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.errors import UsageError

__all__ = [
    "SETSID_PROBE",
    "is_argument",
    "posix_line",
    "posix_quote",
    "powershell_line",
    "powershell_quote",
]

# Characters that no sh (nor zsh, whose `=word` and `~` expand) treats as special inside a word.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")

# A first word that sh would not look up on PATH: reserved words, and builtins that would change or
# end the calling shell. `env WORD` makes it the program of that name, as subprocess would.
_RESERVED = (
    "! { } [[ ]] if then elif else fi case esac for select while until do done in function time "
    "coproc repeat foreach end nocorrect noglob builtin command exec eval exit return break "
    "continue shift trap set unset export readonly declare typeset local alias unalias cd . "
    "source logout bye umask ulimit wait fg bg jobs hash history let"
)
_NOT_A_PROGRAM = frozenset(_RESERVED.split())

# `setsid -w` returns the status of what it runs; other implementations (busybox) have no -w, and
# some systems have no setsid at all. The probe expands to those two words or to nothing.
# setsid stands outside timeout, so that the limit ends every process of the new session's group.
SETSID_PROBE = "$(setsid -w true 2>/dev/null && echo setsid -w)"

# Typographic single quotes end a PowerShell string just as the ASCII one does.
_POWERSHELL_QUOTES = "'\u2018\u2019\u201a\u201b"


def is_argument(value: str) -> bool:
    """Whether an operating system can take `value` as one argument: no NUL, and encodable."""
    if "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def posix_quote(value: str) -> str:
    """Quote `value` for sh as exactly one word, whatever it holds but NUL."""
    if value and value[0] != "=" and _PLAIN.issuperset(value):
        return value
    return "'" + value.replace("'", "'\"'\"'") + "'"


def posix_line(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout_s: float | None = None,
    new_session: bool = False,
) -> str:
    """Render one sh command line: assignments, session, ``timeout`` (seconds), argv, stdin.

    The variables hold for this command alone. Where setsid(1) can't wait for its child or does
    not exist, the line runs without a new session. Raises `UsageError` for an empty `argv`, for
    a NUL, which no argument can hold, and for a variable name no shell would take.
    """
    _check(argv, env)
    words = [f"{name}={posix_quote(value) if value else ''}" for name, value in (env or {}).items()]
    if new_session:
        words.append(SETSID_PROBE)
    if timeout_s is not None:
        words += ["timeout", _seconds(timeout_s)]
    elif argv[0] in _NOT_A_PROGRAM:
        words.append("env")
    first = argv[0]
    # `A=b` as a program's name would be an assignment, and a line that begins with a sign would be
    # options to the sh that is given it.
    odd = "=" in first or first[0] in "-+"
    words.append(f"'{first}'" if odd and _PLAIN.issuperset(first) else posix_quote(first))
    words += [posix_quote(value) for value in argv[1:]]
    if stdin == "null":
        words.append("</dev/null")
    return " ".join(words)


def powershell_quote(value: str) -> str:
    """Quote `value` as one PowerShell string in single quotes, in which nothing expands."""
    for quote in _POWERSHELL_QUOTES:
        value = value.replace(quote, quote * 2)
    return f"'{value}'"


def powershell_line(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """Render one PowerShell line with the same variables, closed stdin and limit (seconds).

    Limits of PowerShell, not ours: the variables stay set in the calling session; one set to an
    empty text is removed instead (before 7.5); before 7.3 an argument with a double quote or an
    empty argument does not reach a native program as it stands. The limit needs a background job,
    so standard error arrives as error records; the status is in ``$LASTEXITCODE``, 124 when the
    limit ended it, 127 when nothing could be started. Windows has no controlling terminal to give
    up. Raises `UsageError` as `posix_line` does.
    """
    _check(argv, env)
    parts = [f"$env:{name}={powershell_quote(value)}" for name, value in (env or {}).items()]
    call = "& " + " ".join(powershell_quote(value) for value in argv)
    if stdin == "null":
        # An empty array sends nothing and closes the pipe; $null would send an empty line.
        call = "@() | " + call
    if timeout_s is None:
        parts.append(call)
    else:
        parts += [
            "$job = Start-Job -ArgumentList $PWD.ProviderPath -ScriptBlock "
            f"{{ Set-Location -LiteralPath $args[0]; {call}; "
            "if ($null -eq $LASTEXITCODE) { 127 } else { $LASTEXITCODE } }",
            f"if (Wait-Job $job -Timeout {max(1, round(timeout_s))}) "
            "{ $seen = @(Receive-Job $job); $seen | Select-Object -SkipLast 1; "
            "$global:LASTEXITCODE = [int]$seen[-1] } "
            "else { Receive-Job $job; Stop-Job $job; $global:LASTEXITCODE = 124 }",
            "Remove-Job $job -Force",
        ]
    return "; ".join(parts)


def _check(argv: Sequence[str], env: Mapping[str, str] | None) -> None:
    if not argv or not argv[0]:
        raise UsageError("command", "there is no program to run", "give the command and its words")
    for index, value in enumerate(argv):
        if "\0" in value:
            raise UsageError(
                f"command, word {index + 1}", "it holds a NUL character", "no argument can hold one"
            )
    for name, value in (env or {}).items():
        if not (name.isascii() and name.isidentifier()):
            raise UsageError(
                f"variable {name!r}", "no shell takes this name", "use letters, digits and _"
            )
        if "\0" in value:
            raise UsageError(f"variable {name}", "it holds a NUL character", "leave it out")


def _seconds(value: float) -> str:
    if value == int(value):
        return str(int(value))
    return f"{value:.3f}".rstrip("0")
