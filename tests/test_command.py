"""Which command of a line is meant, and which one owns the exit status."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triage.command import CommandLine, Stage, parse_command
from triage.shell_line import MAX_LINE, read_line
from triage.shell_tree import parse_line
from triage.stages import Stages


def programs(stages: tuple[Stage, ...]) -> list[str]:
    return [stage.program for stage in stages]


def only(line: str | list[str]) -> Stage:
    parsed = parse_command(line)
    assert len(parsed.stages) == 1, parsed.stages
    return parsed.stages[0]


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("git log --oneline", ("git", "log", "--oneline")),
        ("grep 'a|b && c' file.txt", ("grep", "a|b && c", "file.txt")),
        ('echo "it\'s \\"fine\\"" x', ("echo", 'it\'s "fine"', "x")),
        ("echo a\\ b c\\;d", ("echo", "a b", "c;d")),
        ("  ls \t -l  ", ("ls", "-l")),
        ("ls \\\n  -l", ("ls", "-l")),
        ("r'm' \"-r\"f x", ("rm", "-rf", "x")),
        ("echo '' a", ("echo", "", "a")),
        ("grep -c 'x$' f", ("grep", "-c", "x$", "f")),
        ("find . -exec grep x {} ;", ("find", ".", "-exec", "grep", "x", "{}")),
        (r"find . -exec grep x {} \;", ("find", ".", "-exec", "grep", "x", "{}", ";")),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(line: str, argv: tuple[str, ...]) -> None:
    assert parse_command(line).stages[0].argv == argv


def test_positionals_leave_out_options_and_the_values_of_known_ones() -> None:
    assert only("git -C /srv/app --no-pager log -n 5 main").words == ("log", "5", "main")
    assert only("kubectl -n prod get pods -o wide").words == ("get", "pods")
    assert only("rm -rf -- -x y").words == ("-x", "y")


def test_flags_are_given_whole_and_in_letters() -> None:
    assert only("rm -rf x").flags == {"-rf", "-r", "-f"}
    assert only("pip list --format=json -v").flags == {"--format", "-v"}
    assert only("terraform plan -detailed-exitcode").flags == {"-detailed-exitcode"}
    assert only("grep -- -v f").flags == frozenset()


def test_redirections_and_assignments_belong_to_their_command() -> None:
    stage = only("LANG=C X='a b' make -j4 2>&1 >build.log </dev/null")
    assert stage.argv == ("make", "-j4")
    assert stage.redirects == ("2>&1", ">build.log", "</dev/null")
    assert dict(stage.env) == {"LANG": "C", "X": "a b"}


def test_words_only_a_shell_can_know_are_marked() -> None:
    stage = only('cp "$A" $B src/$C *.py "x $D" {a,b} ~/f $HOME plain')
    assert stage.expanded == {1, 2, 3, 4, 5, 6, 7, 8}
    assert stage.open_words == {1, 2, 3, 6}
    assert stage.splitting == {2, 3, 6}


# ---- wrappers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "program", "wrappers"),
    [
        ("sudo -u postgres psql -l", "psql", ("sudo",)),
        ("timeout -k 5 60 npm test", "npm", ("timeout",)),
        ("env -i A=b C=d cmd x", "cmd", ("env",)),
        ("nice -n 5 ionice -c2 -n7 tar xf a", "tar", ("nice", "ionice")),
        ("nice -10 make", "make", ("nice",)),
        ("xargs -n1 -I{} rm {}", "rm", ("xargs",)),
        ("xargs -0 -P 4 grep x", "grep", ("xargs",)),
        ("stdbuf -oL nohup setsid server", "server", ("stdbuf", "nohup", "setsid")),
        ("time -p ls", "ls", ("time",)),
        ("command git status", "git", ("command",)),
        ("bash -c 'git status'", "git", ("bash",)),
        ("bash -euo pipefail -c 'make'", "make", ("bash",)),
        ("sudo bash -lc \"sh -c 'id'\"", "id", ("sudo", "bash", "sh")),
        ("su - bob -c 'whoami'", "whoami", ("su",)),
        ("script -qc 'ls -l' /dev/null", "ls", ("script",)),
        ("flock -w 5 /tmp/l make", "make", ("flock",)),
        ("flock /tmp/l -c 'make'", "make", ("flock",)),
        ("watch -n 1 kubectl get pods", "kubectl", ("watch",)),
        ("busybox wget -q u", "wget", ("busybox",)),
        ("doas -u x ls", "ls", ("doas",)),
    ],
)
def test_wrappers_are_peeled(line: str, program: str, wrappers: tuple[str, ...]) -> None:
    stage = only(line)
    assert (stage.program, stage.wrappers) == (program, wrappers)


@pytest.mark.parametrize(
    "line",
    ["sudo -l", "sudo -e f", "env", "env A=b", "xargs", "nice", "time", "command -v git",
     "timeout 5", "bash script.sh", "taskset -p 12", "script typescript", "sudo"],
)  # fmt: skip
def test_a_wrapper_with_nothing_to_run_is_the_program(line: str) -> None:
    stage = only(line)
    assert stage.program == line.split()[0]
    assert stage.wrappers == ()


@pytest.mark.parametrize(
    ("line", "program", "via"),
    [
        ("python -m pytest -q", "pytest", "python"),
        ("python3.12 -X utf8 -um http.server 8000", "http.server", "python"),
        ("py -3.11 -m pip list", "pip", "py"),
        ("npx -y eslint@8 .", "eslint", "npx"),
        ("npx --yes @scope/tool@1.2 x", "tool", "npx"),
        ("uvx ruff check", "ruff", "uvx"),
        ("uv run --with x pytest", "pytest", "uv"),
        ("uv run app.py", "python", "uv"),
        ("uv tool run ruff check", "ruff", "uv"),
        ("poetry run python -m pytest", "pytest", "python"),
        ("bundle exec rspec", "rspec", "bundle"),
        ("pnpm --filter web exec tsc", "tsc", "pnpm"),
        ("yarn dlx prettier", "prettier", "yarn"),
        ("pipx run black .", "black", "pipx"),
        ("mise exec node@20 -- npm test", "npm", "mise"),
        ("conda run -n env pytest", "pytest", "conda"),
    ],
)
def test_runners_name_the_tool_they_run(line: str, program: str, via: str) -> None:
    stage = only(line)
    assert (stage.program, stage.via, stage.argv[0]) == (program, via, stage.raw_program)


@pytest.mark.parametrize(
    "line",
    ["python app.py", "python -c 'import m'", "npm test", "uv sync", "pnpm build", "node -m"],
)
def test_other_uses_of_a_runner_stay_what_they_are(line: str) -> None:
    assert only(line).program == line.split()[0]


@pytest.mark.parametrize(
    "line", ["ssh host ls", "docker exec -it c sh -c 'ls'", "kubectl exec p -- ls"]
)
def test_what_runs_elsewhere_is_not_peeled(line: str) -> None:
    assert only(line).program == line.split()[0]


@pytest.mark.parametrize(
    ("line", "program", "argv"),
    [
        (r"C:\Windows\robocopy.exe a b", "robocopy", (r"C:\Windows\robocopy.exe", "a", "b")),
        (r'"C:\Program Files\Git\git.exe" log', "git", (r"C:\Program Files\Git\git.exe", "log")),
        (r'& "C:\a b\Tool.EXE" x', "tool", (r"C:\a b\Tool.EXE", "x")),
        (r".\build.cmd all", "build", (r".\build.cmd", "all")),
        ("npm.cmd test", "npm", ("npm.cmd", "test")),
        ("/usr/bin/git log", "git", ("/usr/bin/git", "log")),
        ("Get-ChildItem -Path x", "Get-ChildItem", ("Get-ChildItem", "-Path", "x")),
    ],
)
def test_paths_are_taken_off_the_program(line: str, program: str, argv: tuple[str, ...]) -> None:
    stage = only(line)
    assert (stage.program, stage.argv) == (program, argv)


# ---- shape ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("ls -l", {"simple"}),
        ("a | b", {"pipeline"}),
        ("a |& b", {"pipeline"}),
        ("a && b", {"and"}),
        ("a || b", {"or"}),
        ("a || true", {"or", "masked_or_true"}),
        ("a; b", {"semicolon"}),
        ("a\nb", {"semicolon"}),
        ("a;", {"simple"}),
        ("a &", {"background"}),
        ("a & b", {"background", "semicolon"}),
        ("! a", {"negated"}),
        ("(a)", {"subshell"}),
        ("{ a; }", {"group"}),
        ("for i in 1 2; do a; done", {"loop"}),
        ("while a; do b; done", {"loop"}),
        ("if a; then b; fi", {"conditional"}),
        ("case x in y) a;; esac", {"conditional"}),
        ("f() { a; }", {"function", "group"}),
        ("a $(b)", {"simple", "substitution"}),
        ("a <(b)", {"simple", "substitution"}),
        ("a <<E\nx\nE\n", {"simple", "heredoc"}),
        ("set -o pipefail; a | b", {"semicolon", "pipeline", "pipefail"}),
        ("bash -c 'a | b'", {"pipeline"}),
        ("a 'b", {"unparsed"}),
        ("a && && b", {"and", "unparsed"}),
        ("", set()),
    ],
)
def test_the_shape_of_a_line(line: str, shape: set[str]) -> None:
    parsed = parse_command(line)
    assert parsed.shape == shape
    assert parsed.parsed is ("unparsed" not in shape)


def test_connectors_stand_in_front_of_their_stage() -> None:
    stages = parse_command("a && b | c || (d; e) & f\ng").stages
    assert [(stage.connector, stage.program) for stage in stages] == [
        ("", "a"), ("&&", "b"), ("|", "c"), ("||", "d"), (";", "e"), ("&", "f"), ("\n", "g"),
    ]  # fmt: skip


def test_commands_inside_substitutions_are_nested() -> None:
    line = parse_command('a "$(b | c)" && d >$(e) <(f) `g` "${x:-$(h)}" $((i[$(j)]))')
    assert programs(line.stages) == ["a", "d"]
    assert set(programs(line.nested)) == {"b", "c", "e", "f", "g", "h", "j"}
    assert line.programs == set("abcdefghj")


def test_here_documents_are_text_unless_a_shell_would_run_them() -> None:
    quoted = parse_command("cat > f <<'E' | sort && d\n$(rm x) `rm y`\nE\n")
    assert [(stage.program, stage.redirects) for stage in quoted.stages] == [
        ("cat", (">f", "<<'E'")), ("sort", ()), ("d", ()),
    ]  # fmt: skip
    assert quoted.nested == () and quoted.doubts == ()
    assert programs(parse_command("cat <<E\n$(rm x)\nE\n").nested) == ["rm"]
    assert parse_command("cat <<E\n`rm x`\nE\n").doubts != ()
    # A shell reads to the end of the file here.
    assert not parse_command("cat <<E\nx\nE; rm y").parsed


def test_a_commit_message_from_a_here_document_is_one_word() -> None:
    stage = parse_command("git commit -m \"$(cat <<'EOF'\nfix: `x` $(y)\nEOF\n)\"").stages[0]
    assert stage.words == ("commit", "$(cat <<'EOF'\nfix: `x` $(y)\nEOF\n)")


def test_words_the_grammar_puts_elsewhere_come_back_to_their_command() -> None:
    assert parse_command("python - <<'E'\nprint()\nE\n").stages[0].argv == ("python", "-")
    stage = parse_command('find . 2>/dev/null -name "$(a)" -delete').stages[0]
    assert stage.argv == ("find", ".", "-name", "$(a)", "-delete")
    piped = parse_command("a $(x) && b > f | c")
    assert [stage.redirects for stage in piped.stages] == [(), (">f",), ()]
    assert programs(piped.owners(1)) == ["a", "c"]


@pytest.mark.parametrize(
    "line",
    [
        'echo "${x:-`rm y`}"',
        "x='$(rm y)'; echo ${x@P}",
        "export X='`rm y`'; a",
        "ls # ; rm -rf x",
        'bash -c "ls $X"',
        "for PATH in /evil; do ls; done",
    ],
)
def test_a_line_that_may_run_more_than_it_shows_is_doubted(line: str) -> None:
    assert parse_command(line).doubts


# ---- who owns the status -------------------------------------------------------------------------

# Checked against bash 5.2: every program given its own status, the line's status looked at.
OWNERS: list[tuple[str, int | None, list[str]]] = [
    ("a", 0, ["a"]),
    ("a | b", 1, ["b"]),
    ("a && b", 0, ["b"]),
    ("a && b", 1, ["a", "b"]),
    ("a || b", 1, ["b"]),
    ("a || b", 0, ["a", "b"]),
    ("a && b || c", 1, ["c"]),
    ("a && b || c", 0, ["b", "c"]),
    ("a || b && c", 1, ["b", "c"]),
    ("a; b", 1, ["b"]),
    ("a; b; true", 1, []),
    ("a || true", 0, ["a", "true"]),
    ("a &", 0, []),
    ("a & b", 1, ["b"]),
    ("! a | b", 1, ["b"]),
    ("(a; b) && { c; d; }", 1, ["b", "d"]),
    ("set -o pipefail; a | b | c", 1, ["a", "b", "c"]),
    ("set -o pipefail; a | b | c", 0, ["c"]),
    ("set -euo pipefail\na\nb | c", 1, ["a", "b", "c"]),
    ("set -e; a; b", 0, ["b"]),
    ("set -e; set +e; a; b", 1, ["b"]),
    ("bash -eo pipefail -c 'a | b'; c", 1, ["c"]),
    ("bash -o pipefail -c 'a | b'", 1, ["a", "b"]),
    ("(set -o pipefail); a | b", 1, ["b"]),
    ("if a; then b; fi", 1, ["b"]),
    ("if a; then b; fi", 0, ["a", "b"]),
    ("if a; then b; else c; fi", 0, ["b", "c"]),
    ("while a; do b; done", 1, ["b"]),
    ("for i in 1; do a; b; done", 1, ["b"]),
    ("case x in y) a;; *) b;; esac", 1, ["a", "b"]),
    ("x=$(a | b)", 1, ["b"]),
    ("export x=$(a)", 1, ["export"]),
    ("a $(b)", 1, ["a"]),
    ("f() { a; }", 0, []),
    ("a; exit $?", 1, ["a"]),
    ("a || exit 3; b", 3, ["a", "exit", "b"]),
    ("a || exit 3; b", 0, ["b"]),
    ("a || { echo no; exit 1; }", 1, ["a", "exit"]),
    ("(exit 3); a", 3, ["a"]),
    ("a && b", None, ["a", "b"]),
    ("cd x && grep y f", 1, ["cd", "grep"]),
]


@pytest.mark.parametrize(("line", "status", "expected"), OWNERS)
def test_who_may_own_the_status(line: str, status: int | None, expected: list[str]) -> None:
    assert programs(parse_command(line).owners(status)) == expected


def test_pipestatus_says_which_stage_failed() -> None:
    line = parse_command("cargo build 2>&1 | tee log | tail")
    assert programs(line.owners(0, (101, 0, 0))) == ["cargo"]
    assert programs(line.owners(0, (0, 0, 0))) == ["tail"]
    assert programs(line.owners(1, (141, 1, 1))) == ["tee", "tail"]
    # A list of another length tells of another pipeline.
    assert programs(line.owners(0, (101, 0))) == ["tail"]


def test_the_final_stage_is_the_one_that_is_certain() -> None:
    assert (final := parse_command("a; b | c").final) is not None and final.program == "c"
    assert parse_command("a && b").final is None
    assert parse_command("a &").final is None
    assert parse_command("a 'b").final is None
    assert parse_command(None).final is None


def test_builtins_that_cannot_fail_in_silence_are_marked() -> None:
    line = parse_command("cd x && export A=1 && B=2 && grep y f")
    assert [stage.quiet_builtin for stage in line.stages] == [True, True, True, False]


@pytest.mark.parametrize(
    ("line", "masks"),
    [
        ("a", False),
        ("a | b", True),
        ("echo x | b", False),
        ("set -o pipefail; a | b", False),
        ("a && b", False),
        ("a || b", True),
        ("a; b", True),
        ("export A=1; b", False),
        ("cd x; b", True),
        ("set -e; a; b", False),
        ("a; exit $?", False),
        ("a &", True),
        ("for i in 1 2; do a; done", True),
        ("a $(b)", True),
        ("x=$(a)", False),
        ("export x=$(a)", True),
    ],
)
def test_whether_a_failure_may_hide_behind_0(line: str, masks: bool) -> None:
    assert parse_command(line).masks_status is masks


# ---- what follows from it ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("gh pr list --json number,title", True),
        ("kubectl get pods -o json", True),
        ("kubectl get pods -ojson", True),
        ("kubectl get pods -o jsonpath={.items}", False),
        ("kubectl get pods -o yaml", False),
        ("aws s3api list-buckets --output json", True),
        ("aws s3api list-buckets --output=json | tee x", True),
        ("cargo build --message-format=json", True),
        ("terraform show -json", True),
        ("docker ps --format '{{json .}}'", True),
        ("pip list --format=json", True),
        ("curl -s u | jq .", True),
        ("curl -s u | jq -r .name", False),
        ("curl --json '{}' u", False),
        ("tool --json=false", False),
        ("gh pr list --json number | grep x", False),
        ("eslint . -f json && ls", False),
        ("ls", False),
    ],
)
def test_whether_json_was_asked_for(line: str, wanted: bool) -> None:
    assert parse_command(line).json_wanted is wanted


def test_what_starts_the_same_line_again() -> None:
    assert parse_command("sudo git log 'a b'").argv_for_rerun == ("sudo", "git", "log", "a b")
    assert parse_command("A=1 make").argv_for_rerun == ("env", "A=1", "make")
    for line in ("ls *.py", "ls | wc", "ls >f", "ls $X", "ls ~", "a 'b"):
        assert parse_command(line).argv_for_rerun == ("bash", "-c", line)
    assert parse_command(["ls", "*.py", "|"]).argv_for_rerun == ("ls", "*.py", "|")
    for useless in ("", " ", "ls \0", "ls \ud8ff"):
        assert parse_command(useless).argv_for_rerun == ()


def test_a_list_of_words_is_taken_literally() -> None:
    line = parse_command(["grep", "a | b; c", "$X"])
    assert line.shape == {"simple"}
    assert line.stages[0].argv == ("grep", "a | b; c", "$X")
    assert not line.stages[0].expanded
    assert programs(parse_command(["bash", "-lc", "a | b"]).stages) == ["a", "b"]
    assert parse_command([]).stages == ()


def test_no_command_has_no_stages() -> None:
    assert parse_command(None) == CommandLine("", parsed=False)
    assert parse_command("").stages == parse_command(" \n ").stages == ()


def test_a_text_that_is_no_line_keeps_its_first_word() -> None:
    for text in ("git log 'x", "git log \0", "git " + "x" * MAX_LINE, "git log " + "|(a)" * 9000):
        line = parse_command(text)
        assert line.shape >= {"unparsed"} and not line.parsed
        assert line.stages[0].program == "git"
        assert programs(line.owners(1))[:1] == ["git"]


def test_a_line_without_substitutions_needs_no_parser() -> None:
    code = (
        "import sys; from triage.command import parse_command as p;"
        "p('cd x && A=1 make 2>&1 | tee log || ! grep -q \"a|b\" f; echo $? &');"
        "assert 'tree_sitter' not in sys.modules; p('a $(b)'); assert 'tree_sitter' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- laws ----------------------------------------------------------------------------------------

PIECES = [
    "a", "b ", "-x", " ", "|", "|&", "&", "&&", "||", ";", "(", ")", "{ ", "; }", "$(", "`", '"',
    "'", "<<E", "\nE\n", "\n", "if ", "then ", "else ", "fi", "for i in ", "do ", "done",
    "case x in ", ";; ", "esac", "${", "}", "$((", "))", ">", "<", "!", "#", "\\", "[", "]", "[[ ",
    " ]]", "=", "x=", "*", "~", "é", "\0", "\ud800", "bash -c ", "sudo ", "$x", "@P", "exit",
    "set -e; ", "xargs ",
]  # fmt: skip
shellish = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def look_at_everything(line: CommandLine) -> None:
    known = {id(stage) for stage in (*line.stages, *line.nested)}
    for status in (None, 0, 1, 137, -9):
        owners = line.owners(status, (1, 0))
        assert all(id(stage) in known for stage in owners)
    if line.final is not None:
        assert line.owners(None) == (line.final,)
    assert isinstance(line.masks_status, bool)
    assert isinstance(line.json_wanted, bool)
    assert all(isinstance(word, str) for word in line.argv_for_rerun)
    programs_of_line = line.programs
    for stage in (*line.stages, *line.nested):
        assert stage.quiet_builtin in (True, False)
        assert stage.program in programs_of_line
        assert stage.splitting <= stage.open_words <= stage.expanded <= set(range(len(stage.argv)))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), shellish))
def test_any_text_is_read(text: str) -> None:
    look_at_everything(parse_command(text))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_list_of_words_is_read(words: list[str]) -> None:
    line = parse_command(words)
    look_at_everything(line)
    assert line.text == parse_command(tuple(words)).text


UNITS = [
    "(", "$(", '"', "`", "{ ", "a|", "a;", "a && ", "<<E\n", "if ", "'", "\0", "${", "$((", "=~ ",
    "a\n", "x=(", "sudo ", "-o ", "\\", "é", "[[ ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_long_and_deep_lines_are_read(unit: str) -> None:
    for size in (5_000, MAX_LINE, 20 * MAX_LINE):
        look_at_everything(parse_command((unit * (size // len(unit) + 1))[:size]))


def test_shells_within_shells_end_somewhere() -> None:
    line = "rm x"
    for _ in range(8):
        line = "bash -c '" + line.replace("'", "'\\''") + "'"
    look_at_everything(parse_command(line))


words = st.sampled_from(
    ["a", "b", "-x", "--y=1", "'p q'", '"r s"', "t\\ u", "$V", '"$W"', "*.c", "x=y"]
)
commands = st.builds(
    lambda env, name, rest, redirects: " ".join((*env, name, *rest, *redirects)),
    st.lists(st.sampled_from(["A=1", "B='c d'"]), max_size=1),
    st.sampled_from(["git", "ls", "sudo ls", "cd"]),
    st.lists(words, max_size=3),
    st.lists(st.sampled_from(["2>&1", ">f", "</dev/null", "2>>log"]), max_size=2),
)
flat_lines = st.builds(
    lambda first, rest: first + "".join(operator + command for operator, command in rest),
    commands,
    st.lists(st.tuples(st.sampled_from([" | ", " && ", " || ", "; ", "\n"]), commands), max_size=4),
)


@settings(max_examples=150, deadline=None)
@given(flat_lines)
def test_the_cheap_reader_and_the_parser_agree(line: str) -> None:
    cheap = read_line(line)
    assert cheap is not None
    tree = parse_line(line)
    # The grammar overlooks some line ends after a pipeline; that it did is noticed.
    assume(tree.whole or "\n" not in line)
    ours, parsed = Stages(cheap), Stages(tree)
    assert ours.stages == parsed.stages
    assert ours.shape == parsed.shape
    assert ours.tree == parsed.tree
