"""Programs that start the program a line is really about: sudo, env, timeout, npx, `sh -c`.

`peel` takes them off the front of a command. ssh, docker, kubectl and their like are no
wrappers here: what they start runs elsewhere, and their own failures are the common ones.
"""

from __future__ import annotations

import re

from triage.frozen import frozen, replaced
from triage.shell_words import Word

__all__ = ["LONG_SINGLE_DASH", "RUNNERS", "SHELLS", "WRAPPERS", "Peeled", "peel", "program_name"]


@frozen()
class Wrapper:
    """How the command after a wrapper is found.

    `values` are options whose value is the next word, `operands` the words before the command,
    `lines` options whose value is a shell line, `stops` options with which no command is
    started. `joined`: the rest of the words is one shell line. `dashes`: the command stands
    after `--` where there is one.
    """

    values: frozenset[str] = frozenset()
    operands: int = 0
    lines: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()
    assigns: bool = False
    joined: bool = False
    dashes: bool = False


@frozen()
class Peeled:
    """What is left: either `words`, or a shell `line` to read.

    `wrappers` and `runners` are what was taken off, outermost first; `before` the words taken;
    `env` the assignments among them; `strict` the shell options that were given with the line
    (`e`, `pipefail`).
    """

    words: tuple[Word, ...]
    wrappers: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    env: tuple[tuple[str, Word], ...] = ()
    line: Word | None = None
    strict: frozenset[str] = frozenset()


_MOST = 20


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# From the manual pages of sudo 1.9, GNU coreutils 9, util-linux 2.38, findutils 4.9, procps 4,
# moreutils, expect, strace 6 and the tools named below.
WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(
        _set("-u -g -p -C -D -R -T -h -r -t -U --user --group --prompt --chdir --chroot --host"
             " --role --type --other-user --command-timeout --close-from"),
        stops=_set("-l -v -V -e -K -s -i --list --validate --version --edit --shell --login"),
        assigns=True,
    ),
    "doas": Wrapper(_set("-u -C"), stops=_set("-C -L -s")),
    "env": Wrapper(
        _set("-u -C --unset --chdir -P"), stops=_set("-S --split-string"), assigns=True
    ),
    "timeout": Wrapper(_set("-k -s --kill-after --signal"), operands=1),
    "gtimeout": Wrapper(_set("-k -s --kill-after --signal"), operands=1),
    "nohup": Wrapper(),
    "nice": Wrapper(_set("-n --adjustment")),
    "ionice": Wrapper(_set("-c -n --class --classdata"), stops=_set("-p -P -u --pid")),
    "chrt": Wrapper(_set("-T -P -D"), operands=1, stops=_set("-p --pid -m --max")),
    "taskset": Wrapper(operands=1, stops=_set("-p --pid")),
    "time": Wrapper(_set("-o -f --output --format")),
    "stdbuf": Wrapper(_set("-i -o -e --input --output --error")),
    "setsid": Wrapper(),
    "command": Wrapper(stops=_set("-v -V")),
    "exec": Wrapper(_set("-a")),
    "builtin": Wrapper(),
    "xargs": Wrapper(
        _set("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs"
             " --max-chars --replace --process-slot-var"),
    ),
    "watch": Wrapper(_set("-n -q --interval --equexit"), joined=True),
    "strace": Wrapper(_set("-o -e -s -p -u -E -P -a -S -I -O -b -X"), stops=_set("-p")),
    "ltrace": Wrapper(_set("-o -e -s -p -u -l -a -n -F -x -w -A -D"), stops=_set("-p")),
    "chronic": Wrapper(),
    "unbuffer": Wrapper(),
    "winpty": Wrapper(),
    "caffeinate": Wrapper(_set("-t -w")),
    "flock": Wrapper(
        _set("-w -E --timeout --conflict-exit-code --wait"), operands=1, lines=_set("-c --command")
    ),
    "script": Wrapper(
        _set("-O -I -B -T -m -E -o --log-out --log-in --log-io --log-timing --echo"),
        operands=1,
        lines=_set("-c --command"),
    ),
    "su": Wrapper(_set("-g -G -s -w"), lines=_set("-c --command"), operands=_MOST),
    "busybox": Wrapper(stops=_set("--list --install --help")),
    "toybox": Wrapper(),
    "xvfb-run": Wrapper(_set("-e -f -n -p -s -w")),
    "dbus-run-session": Wrapper(_set("--config-file --dbus-daemon")),
}  # fmt: skip

# Shells whose `-c` line is read as part of the line. PowerShell and cmd have another syntax.
SHELLS = _set("bash sh zsh dash ksh ash mksh yash rbash")

_PLAIN = Wrapper()
_PYTHON_VALUES = _set("-X -W --check-hash-based-pycs")
# Patterns are kept as text: `re` compiles the one that a line needs, most lines need none.
_PYTHON = r"(?:python|pypy)[0-9.]*|py|pythonw"

# First word(s) of a runner -> how its command is found. The program is then the tool that runs.
RUNNERS: dict[tuple[str, ...], Wrapper] = {
    ("npx",): Wrapper(_set("-p --package -w --workspace"), lines=_set("-c --call")),
    ("pnpx",): Wrapper(_set("--package")),
    ("bunx",): Wrapper(_set("-p --package")),
    ("bun", "x"): Wrapper(_set("-p --package")),
    ("npm", "exec"): Wrapper(_set("-p --package -w --workspace"), lines=_set("-c --call")),
    ("npm", "x"): Wrapper(_set("-p --package -w --workspace"), lines=_set("-c --call")),
    ("pnpm", "exec"): Wrapper(_set("-C --dir -F --filter"), lines=_set("-c --shell-mode")),
    ("pnpm", "dlx"): Wrapper(_set("--package -C --dir")),
    ("yarn", "exec"): Wrapper(_set("--cwd")),
    ("yarn", "dlx"): Wrapper(_set("-p --package --cwd")),
    ("uvx",): Wrapper(_set("--from --with --with-editable --with-requirements -p --python")),
    ("uv", "run"): Wrapper(
        _set("--with --with-editable --with-requirements -p --python --extra --group --only-group"
             " --no-group --project --directory --package --env-file --index --index-url")
    ),
    ("uv", "tool", "run"): Wrapper(_set("--from --with --with-editable -p --python")),
    ("poetry", "run"): Wrapper(_set("-C --directory -P --project")),
    ("pipenv", "run"): _PLAIN,
    ("pdm", "run"): Wrapper(_set("-p --project -s --site-packages")),
    ("rye", "run"): _PLAIN,
    ("pipx", "run"): Wrapper(_set("--spec --python --index-url --pip-args")),
    ("conda", "run"): Wrapper(_set("-n --name -p --prefix --cwd")),
    ("mamba", "run"): Wrapper(_set("-n --name -p --prefix --cwd")),
    ("micromamba", "run"): Wrapper(_set("-n --name -p --prefix --cwd")),
    ("bundle", "exec"): Wrapper(_set("--gemfile")),
    ("rbenv", "exec"): _PLAIN,
    ("pyenv", "exec"): _PLAIN,
    ("nodenv", "exec"): _PLAIN,
    ("asdf", "exec"): _PLAIN,
    ("mise", "exec"): Wrapper(dashes=True),
    ("mise", "x"): Wrapper(dashes=True),
    ("direnv", "exec"): Wrapper(operands=1),
    ("op", "run"): Wrapper(_set("--env-file --account"), dashes=True),
    ("doppler", "run"): Wrapper(_set("-p -c --project --config"), dashes=True),
    ("aws-vault", "exec"): Wrapper(_set("-d --duration --region"), operands=1),
    ("dotnet", "tool", "run"): _PLAIN,
    ("corepack",): Wrapper(stops=_set("enable disable prepare use up install")),
}  # fmt: skip
_RUNNER_HEADS = frozenset(path[0] for path in RUNNERS)

# Programs whose options are whole words after one dash; `-detailed-exitcode` is no `-d -e ...`.
LONG_SINGLE_DASH = _set(
    "terraform tofu terragrunt packer vault consul nomad go find java javac openssl ffmpeg ffprobe"
    " robocopy ant groovy scala curl.exe xcodebuild magick convert vagrant"
)

_ASSIGNMENT = r"([A-Za-z_][A-Za-z0-9_]*)="
_SUFFIX = r"(?i)\.(?:exe|cmd|bat|com)$"
_VERSION = r"(?<=[^@])@[^@/]*$"


def program_name(raw: str) -> str:
    """Return the name of a program as written: no directory, no `.exe`, a Windows path too."""
    name = raw.rstrip("/").rpartition("/")[2] or raw
    if "\\" in name:
        name = name.rpartition("\\")[2] or name
    cut = re.sub(_SUFFIX, "", name) if "." in name else name
    return cut.lower() if cut != name else name


def peel(words: tuple[Word, ...]) -> Peeled:
    """Take the wrappers and runners off; at least one word is left, or a line is found."""
    wrappers: list[str] = []
    runners: list[str] = []
    env: list[tuple[str, Word]] = []
    rest = words
    line: Word | None = None
    strict: frozenset[str] = frozenset()
    for _ in range(_MOST):
        if not rest:
            break
        name = program_name(rest[0].text)
        if name in SHELLS:
            line, strict = _shell_line(rest)
            if line is not None:
                wrappers.append(name)
            break
        wrapper, skip = WRAPPERS.get(name), 1
        is_runner = False
        if wrapper is None and name in _RUNNER_HEADS:
            wrapper, skip = _runner(rest, name)
            is_runner = wrapper is not None
        if wrapper is None:
            module = _python_module(rest) if name[:2] == "py" and re.fullmatch(_PYTHON, name) else 0
            if not module:
                break
            runners.append("py" if name == "py" else name.rstrip("0123456789."))
            rest = rest[module:]
            break
        start, line = _command(rest, skip, wrapper, env)
        if line is not None:
            (runners if is_runner else wrappers).append(name)
            break
        if start >= len(rest):
            break
        rest = rest[start:]
        if is_runner:
            runners.append(name)
            rest = _run_target(rest, name)
        else:
            wrappers.append(name)
    taken = words if line is not None else words[: len(words) - len(rest)]
    before = tuple(word.text for word in taken)
    return Peeled(rest, tuple(wrappers), tuple(runners), before, tuple(env), line, strict)


def _command(
    words: tuple[Word, ...], start: int, wrapper: Wrapper, env: list[tuple[str, Word]]
) -> tuple[int, Word | None]:
    """Find the command behind a wrapper; an index past the end when there is none."""
    nothing = len(words)
    found: list[tuple[str, Word]] = []
    position = start
    operands = wrapper.operands
    while position < len(words):
        word = words[position]
        text = word.text
        if text == "--":
            position += 1
            break
        if text in wrapper.stops:
            return nothing, None
        if text[:1] == "-":
            option, value = _option(text, wrapper)
            if option in wrapper.stops:
                return nothing, None
            if option in wrapper.lines:
                if value:
                    return nothing, replaced(word, text=value)
                return nothing, words[position + 1] if position + 1 < len(words) else None
            position += 2 if option in wrapper.values and not value else 1
            continue
        assignment = re.match(_ASSIGNMENT, text) if wrapper.assigns else None
        if assignment:
            found.append((assignment.group(1), replaced(word, text=text[assignment.end() :])))
        elif operands:
            operands -= 1
        else:
            break
        position += 1
    if wrapper.dashes:
        later = next((i for i in range(start, len(words)) if words[i].text == "--"), -1)
        position = later + 1 if later >= 0 else position
    if position < len(words):
        env.extend(found)
        if wrapper.joined:
            rest = words[position:]
            joined = " ".join(word.text for word in rest)
            return nothing, Word(joined, any(word.expands for word in rest))
    return position, None


def _option(text: str, wrapper: Wrapper) -> tuple[str, str]:
    """Split an option word: the option that matters in it and the value joined to it."""
    if text.startswith("--"):
        name, _, value = text.partition("=")
        return name, value
    for index in range(1, len(text)):
        letter = "-" + text[index]
        if letter in wrapper.values or letter in wrapper.lines:
            return letter, text[index + 1 :]
        if letter in wrapper.stops:
            return letter, ""
    return text, ""


def _shell_line(words: tuple[Word, ...]) -> tuple[Word | None, frozenset[str]]:
    """Find the line of `sh -c LINE`, and whether -e or -o pipefail was given with it."""
    strict: set[str] = set()
    wanted = False
    position = 1
    while position < len(words):
        text = words[position].text
        if text[:1] not in "-+" or len(text) < 2 or text == "--":
            break
        position += 1
        if text.startswith("--"):
            position += 1 if text in ("--rcfile", "--init-file") else 0
            continue
        if text[0] == "-":
            wanted = wanted or "c" in text
            strict |= {"e"} if "e" in text else set()
        if "o" in text or "O" in text:
            if text[0] == "-" and position < len(words):
                strict |= {"e" if words[position].text == "errexit" else words[position].text}
            position += 1
    if not wanted or position >= len(words):
        return None, frozenset()
    return words[position], frozenset(strict & {"e", "pipefail"})


def _runner(words: tuple[Word, ...], name: str) -> tuple[Wrapper | None, int]:
    """Match a runner's words, passing over options between them; the index behind them."""
    for path, wrapper in RUNNERS.items():
        if path[0] != name:
            continue
        position, matched = 1, 1
        while matched < len(path) and position < len(words):
            text = words[position].text
            if text == path[matched]:
                matched += 1
            elif text[:1] != "-":
                break
            elif text in wrapper.values:
                position += 1
            position += 1
        if matched == len(path):
            return wrapper, position
    return None, 0


def _run_target(words: tuple[Word, ...], runner: str) -> tuple[Word, ...]:
    """Name the tool a runner starts: `eslint@8` is eslint, a Python file is run by python."""
    first = words[0]
    if runner == "uv" and first.text.endswith(".py"):
        return (Word("python"), *words)
    return (replaced(first, text=re.sub(_VERSION, "", first.text)), *words[1:])


def _python_module(words: tuple[Word, ...]) -> int:
    """Index of the module in `python -m module`, 0 when no module is run."""
    position = 1
    while position < len(words):
        text = words[position].text
        if text[:1] != "-" or len(text) < 2 or "c" in text.lstrip("-")[:1]:
            return 0
        position += 2 if text in _PYTHON_VALUES else 1
        if text[1] not in "XW-" and text.endswith("m"):
            return position if position < len(words) else 0
    return 0
