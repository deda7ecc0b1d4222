"""Which command lines only read (ruling 13)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.command import parse_command
from triage.effect_forms import Arguments, glob
from triage.effects import EffectResult, Rules, effect_of
from triage.errors import RuleError
from triage.model import Effect
from triage.script_effects import awk_writes, sed_writes

ROOT = Path(__file__).parent.parent
DATA: dict[str, Any] = yaml.safe_load((ROOT / "rules/effects.yaml").read_text("utf-8"))
SCHEMA = json.loads((ROOT / "rules/schema/effects.schema.json").read_text("utf-8"))
LABELLED: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "data/effects_lines.yaml").read_text("utf-8")
)
RULES = Rules.from_data(DATA)
EFFECTS = get_args(Effect)


def judge(line: str | list[str]) -> EffectResult:
    return effect_of(parse_command(line), rules=RULES)


def effect(line: str | list[str]) -> Effect:
    return judge(line).effect


# ---- the labelled lines --------------------------------------------------------------------------


def test_the_list_is_long_enough_to_mean_something() -> None:
    lines = [line for group in LABELLED.values() for line in group]
    assert len(lines) == len(set(lines)) >= 300
    assert len(LABELLED["read_only"]) >= 140
    assert len(LABELLED["mutating"]) >= 120
    assert len(LABELLED["unknown"]) >= 60


@pytest.mark.parametrize("line", LABELLED["mutating"] + LABELLED["unknown"])
def test_nothing_that_may_change_something_is_called_read_only(line: str) -> None:
    assert effect(line) != "read_only"


def test_four_of_five_read_only_lines_are_recognised() -> None:
    missed = [line for line in LABELLED["read_only"] if effect(line) != "read_only"]
    assert len(missed) <= len(LABELLED["read_only"]) * 0.2, missed
    assert not [line for line in missed if effect(line) == "mutating"]


def test_mutating_lines_are_named_as_such() -> None:
    missed = [line for line in LABELLED["mutating"] if effect(line) != "mutating"]
    assert len(missed) <= len(LABELLED["mutating"]) * 0.1, missed


# ---- what decides --------------------------------------------------------------------------------


def test_the_caller_knows_better() -> None:
    for declared in EFFECTS:
        result = effect_of(parse_command("rm -rf x"), declared, RULES)
        assert (result.effect, result.stage) == (declared, None)
        assert "caller" in result.why


def test_no_command_is_unknown() -> None:
    for line in (None, parse_command(None), parse_command(""), parse_command("# a comment")):
        assert effect_of(line, rules=RULES).effect == "unknown"


def test_the_reason_names_the_stage_that_decided() -> None:
    result = judge("git status && npm ls && rm -rf x | wc")
    assert (result.effect, result.stage and result.stage.program) == ("mutating", "rm")
    assert "rm" in result.why
    result = judge("git log | ./filter | head")
    assert (result.effect, result.stage and result.stage.program) == ("unknown", "filter")
    assert judge("git -C x log -3").why == "`git log` only reads"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls", "read_only"),
        ("ls; unheard-of", "unknown"),
        ("ls; unheard-of; rm x", "mutating"),
        ("rm x; unheard-of", "mutating"),
        ("echo $(rm x)", "mutating"),
        ("echo $(unheard-of)", "unknown"),
        ("echo $(ls)", "read_only"),
    ],
)
def test_the_worst_command_of_a_line_decides(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2>/dev/null", "read_only"),
        ("2>&1", "read_only"),
        (">/dev/null 2>&1", "read_only"),
        ("&>/dev/null", "read_only"),
        ("</dev/null", "read_only"),
        ("< input.txt", "read_only"),
        ("<<< text", "read_only"),
        (">&2", "read_only"),
        ("3>&-", "read_only"),
        ("> out", "unknown"),
        (">> out", "unknown"),
        ("2> err", "unknown"),
        ("&> out", "unknown"),
        (">| out", "unknown"),
        (">& out", "unknown"),
        ("<> file", "unknown"),
        ("> $OUT", "unknown"),
        ("> >(tee out)", "unknown"),
        ("> /dev/sda", "unknown"),
    ],
)
def test_redirections_write_unless_they_go_nowhere(written: str, expected: str) -> None:
    assert effect(f"cat {written}") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("LC_ALL=C NO_COLOR=1 git log", "read_only"),
        ("GIT_PAGER=cat git log", "read_only"),
        ("PAGER= git log", "read_only"),
        ("AWS_PROFILE=prod aws s3 ls", "read_only"),
        ("FILE=x; cat $FILE", "read_only"),
        ("while IFS= read -r line; do echo $line; done < f", "read_only"),
        ("export LANG=C; ls", "read_only"),
        ("GIT_PAGER='rm x' git log", "unknown"),
        ("GIT_EXTERNAL_DIFF=./e git diff", "unknown"),
        ("LD_PRELOAD=./e.so ls", "unknown"),
        ("PATH=/e ls", "unknown"),
        ("PATH=/e; ls", "unknown"),
        ("export PATH=/e && ls", "unknown"),
        ("env PATH=/e ls", "unknown"),
        ("sudo LESSOPEN='|./e' less f", "unknown"),
        ("declare -x GIT_SSH_COMMAND=./e; git ls-remote", "unknown"),
        ("read PATH < f; ls", "unknown"),
        ("printf -v PATH /e; ls", "unknown"),
        ("NODE_OPTIONS=--require=./e npm ls", "unknown"),
    ],
)
def test_variables_that_steer_other_programs(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sudo -u root ls /root", "read_only"),
        ("timeout -k 5 60 git status", "read_only"),
        ("env -i ls", "read_only"),
        ("bash -c 'ls | wc -l'", "read_only"),
        ("python -m pip list", "read_only"),
        ("busybox ls", "read_only"),
        ("poetry run ruff check .", "read_only"),
        ("npx eslint .", "unknown"),
        ("uvx ruff check .", "unknown"),
        ("uv run ruff check .", "unknown"),
        ("nohup ls", "unknown"),
        ("script -c ls f", "unknown"),
        ("strace -o f ls", "unknown"),
        ("time -o f ls", "unknown"),
        ("sudo -s ls", "unknown"),
        ("env -S 'rm x'", "unknown"),
        ("bash --rcfile ./e -c ls", "unknown"),
        ('bash -c "ls $X"', "unknown"),
        ("bash script.sh", "unknown"),
        ("ls | sh", "unknown"),
        ("sudo rm x", "mutating"),
        ("npx rm x", "mutating"),
        ("bash -c 'ls; rm x'", "mutating"),
    ],
)
def test_what_stands_around_a_command_counts(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("find . -name x | xargs cat", "read_only"),
        ("find . -name x | xargs -I{} ls -l {}", "read_only"),
        ("ls | xargs rm", "mutating"),
        # What xargs adds may be an option of sort, or the subcommand of git.
        ("ls | xargs sort", "unknown"),
        ("ls | xargs git", "unknown"),
        ("ls | xargs -I log git log", "unknown"),
        ("ls | xargs -I{} {}", "unknown"),
        ("ls | xargs -I{} sh -c 'cat {}'", "read_only"),
        ("ls | xargs -I{} sh -c '{}'", "unknown"),
        ("find . -exec cat {} +", "read_only"),
        ("find . -exec grep -l x {} ; -print", "unknown"),
        (r"find . -exec cat {} \; -exec rm {} \;", "mutating"),
        ("find . -exec sh -c 'cat \"$1\" > f' _ {} +", "unknown"),
        ("find . -exec {} +", "unknown"),
        ("find . -exec", "unknown"),
        ("find . -ok cat {} +", "unknown"),
        ("fd -x cat", "unknown"),
    ],
)
def test_commands_started_by_commands(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat $FILE", "read_only"),
        ("cat *.txt", "read_only"),
        ("find $HOME -name x", "read_only"),
        ('kubectl -n "$NS" get pods', "read_only"),
        ("find $DIR -name x", "unknown"),
        ('find "$DIR" -name x', "unknown"),
        ("find . -{print,delete}", "unknown"),
        ("find . -del[e]te", "unknown"),
        ("git $CMD", "unknown"),
        ("$TOOL --version", "unknown"),
        ("kubectl $X get pods", "unknown"),
        ("kubectl -n $NS get pods", "unknown"),
        ("$'\\x72\\x6d' x", "unknown"),
        ("find . -d'el'ete", "mutating"),
        ("r'm' x", "mutating"),
    ],
)
def test_values_only_a_shell_knows_are_trusted_where_they_do_no_harm(
    line: str, expected: str
) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kubectl get pods", "read_only"),
        ("kubectl --context get delete pod x", "mutating"),
        ("kubectl --strange get delete pod x", "unknown"),
        ("gh pr list", "read_only"),
        ("gh -R o/r pr list", "read_only"),
        ("docker compose -f x.yml ps", "read_only"),
        ("aws --profile p ec2 describe-instances", "read_only"),
        ("aws --strange s3 ls", "unknown"),
        ("gcloud compute instances list", "read_only"),
        ("gcloud compute ssh list", "mutating"),
        ("gcloud compute instances delete list", "mutating"),
        ("az vm delete --name list", "mutating"),
        ("az vm list", "read_only"),
        ("./kubectl get pods", "unknown"),
        ("/usr/bin/kubectl get pods", "read_only"),
        ("kubectl --help", "read_only"),
        ("kubectl", "unknown"),
        ("rm --help", "read_only"),
        ("rm --help x", "mutating"),
        ("unheard-of --version", "unknown"),
        ("node -v", "read_only"),
    ],
)
def test_a_subcommand_counts_only_where_it_is_certain(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl u", "read_only"),
        ("curl -sSfL -o /dev/null u", "read_only"),
        ("curl -so- u", "read_only"),
        ("curl -X GET u", "read_only"),
        ("curl --request=HEAD u", "read_only"),
        ("curl -G -d q=1 u", "read_only"),
        ("curl -XPOST u", "mutating"),
        ("curl -X GET -X PUT u", "mutating"),
        ("curl -sd x u", "mutating"),
        ("curl --data-raw x u", "mutating"),
        ("curl --form x=y u", "mutating"),
        ("curl -sSLo f u", "unknown"),
        ("curl --outp f u", "unknown"),
        ("curl -o /dev/null -o f u", "unknown"),
        ("curl -w '%output{f}' u", "unknown"),
        ("curl gopher://h/_x", "unknown"),
        ("gh api -X GET x -f q=1", "read_only"),
        ("gh api x -f q=1", "mutating"),
        ("gh api -X GET -X DELETE x", "mutating"),
        ("kubectl apply -f x --dry-run=server", "read_only"),
        ("kubectl apply -f x --dry-run=none", "mutating"),
        ("terraform fmt -check", "read_only"),
        ("terraform fmt -write=false", "read_only"),
        ("terraform fmt", "mutating"),
        ("git branch", "read_only"),
        ("git branch --list -D x", "mutating"),
        ("git branch -dr x", "mutating"),
        ("git -c color.ui=never log", "read_only"),
        ("git -c alias.x=!rm log", "unknown"),
        ("tar -tzf a", "read_only"),
        ("tar -tf a --checkpoint-action=exec=sh", "unknown"),
        ("tar xf a", "mutating"),
        ("date +%F", "read_only"),
        ("date 01010101", "unknown"),
        ("hostname -f", "read_only"),
        ("hostname x", "mutating"),
    ],
)
def test_options_and_their_values(line: str, expected: str) -> None:
    assert effect(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "ls 'x",
        "ls \0",
        "if true; then ls",
        "ls " + "x" * 100_000,
        "git log " + "x " * 5_000,
        "ls; " * 3_000,
        'echo "${x:-`rm y`}"',
        "cat <<E\n`rm y`\nE\n",
        "x='$(rm y)'; echo ${x@P}",
        "ls # ; rm x",
        "for PATH in /e; do ls; done",
        "eval ls",
        "source f",
        "alias ls=rm; ls",
        "trap 'rm x' EXIT; ls",
        "hash -p ./e ls; ls",
        "f() { ls; }; f",
    ],
)
def test_lines_that_cannot_be_seen_through(line: str) -> None:
    assert effect(line) == "unknown"


# ---- sed and awk ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        "p", "10,20p", "$!d", "/a/,/b/p", "/a/I,+3p", "\\#a#d", "0~3p", "s/a/b/", "s|a/b|c|gI2",
        "s/a\\/b/c/;s/d/e/p", "/a/{s/x/y/;p}", "y/abc/xyz/", ":a;N;$!ba;s/\\n/ /g", "5q", "q5",
        "$=", "a text > file", "i\\\nw text", "r other", "# w comment", "", "s/[0-9]*//",
        "s/[[:space:]]//", "l 5", "x;G;1!h", "s/[^]]//",
    ],
)  # fmt: skip
def test_sed_scripts_that_read(script: str) -> None:
    assert sed_writes(script) == ""


@pytest.mark.parametrize(
    "script",
    [
        "w f", "/a/w f", "s/a/b/w f", "s/a/b/gw f", "s/a/b/e", "e", "1e rm x", "/a/,/b/{p;w f\n}",
        "W f", "s/a/b", "s/a", "/a", "y/a/b", "s", "s/[/]/x/", "s/]a[/]/p;x;/w f/p", "s\na\nb\n",
        "p;;w f", "s/a/b/w", "# \\\nw f", "r x\\\nw f", "pw f", "Z", "s/a/b/Z", "5",
    ],
)  # fmt: skip
def test_sed_scripts_that_write_or_are_not_understood(script: str) -> None:
    assert sed_writes(script)


@pytest.mark.parametrize(
    "program",
    ["{print $1}", "$3 > 100 {print $1}", "NR>1 && $2>5 {s+=$2} END {print s}", "/a|b/", "a || b",
     'BEGIN{FS=":"} {printf "%s\\n", $1}', "{getline x < \"f\"; print x}"],
)  # fmt: skip
def test_awk_programs_that_read(program: str) -> None:
    assert awk_writes(program) == ""


@pytest.mark.parametrize(
    "program",
    ['{print > "f"}', '{print $1 >> "f"}', '{printf "x" | "sh"}', 'BEGIN{system("rm x")}',
     '{"rm x" | getline}', '{print |& "x"}', 'BEGIN{f="sys" "tem"; @f("rm")}', '@load "x"'],
)  # fmt: skip
def test_awk_programs_that_write(program: str) -> None:
    assert awk_writes(program)


def test_a_program_from_a_variable_or_a_file_is_unknown() -> None:
    for line in (
        'sed "$S" f',
        "sed -f s f",
        'awk "$P" f',
        "awk -f p f",
        "sed",
        'sed -e "s/a/$B/" f',
    ):
        assert effect(line) == "unknown"


# ---- the data ------------------------------------------------------------------------------------


def test_the_data_fits_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(DATA, SCHEMA)


def test_the_data_survives_the_cache() -> None:
    again = Rules.from_data(json.loads(json.dumps(DATA)))
    for group in LABELLED.values():
        for line in group[::5]:
            parsed = parse_command(line)
            assert effect_of(parsed, rules=again) == effect_of(parsed, rules=RULES)


def test_each_program_stands_in_one_place() -> None:
    names = [*DATA["read_only"], *DATA["mutating"]]
    for name, entry in DATA["programs"].items():
        names += [name, *entry.get("also", ())]
    assert sorted(names) == sorted(set(names))


def read_only_paths() -> list[tuple[str, str]]:
    """(program, path with its first alternatives) of each read-only form without globs."""
    found = [(name, "") for name in DATA["read_only"]]
    for name, entry in DATA["programs"].items():
        for form in entry["forms"]:
            if isinstance(form, str):
                form = {"path": form}
            if "effect" in form or isinstance(form["path"], list):
                continue
            alternatives = [""]
            for word in form["path"].split():
                alternatives = [f"{a} {b}".strip() for a in alternatives for b in word.split("|")]
            found += [(name, path) for path in alternatives if "*" not in path]
    return found


def test_well_known_forms_are_many() -> None:
    assert len(read_only_paths()) >= 150 + len(DATA["read_only"])


def flagged_lines() -> list[tuple[str, str]]:
    """A line for each option that takes a form out of read-only, and the option."""
    found = []
    for name, entry in DATA["programs"].items():
        allow = entry.get("allow", {})
        for form in entry["forms"]:
            if isinstance(form, str):
                form = {"path": form}
            if "effect" in form or isinstance(form["path"], list) or "*" in form["path"]:
                continue
            path = [word.split("|")[0] for word in form["path"].split()]
            needs = form.get("needs", [""])[0].replace("=", " ", 1) if "needs" in form else ""
            flags = [*entry.get("unknown", ()), *entry.get("mutating", ())]
            allow = {**allow, **form.get("allow", {})}
            found += [
                (" ".join([name, *path, needs, flag, "value"]), flag)
                for flag in (*flags, *form.get("unknown", ()), *form.get("mutating", ()))
                if flag not in allow
            ]
    return found


def test_every_listed_option_takes_a_form_out_of_read_only() -> None:
    lines = flagged_lines()
    assert len(lines) > 500
    assert [line for line, _ in lines if effect(line) == "read_only"] == []


def test_a_file_that_is_none_is_refused() -> None:
    broken: list[object] = [None, [], {}, {"programs": []}]
    for data in broken:
        with pytest.raises(RuleError, match=r"effects\.yaml"):
            Rules.from_data(data)


def test_options_are_found_in_every_spelling() -> None:
    words = ("-abc", "-ofile", "-o", "x", "--out=1", "--verbose", "-", "--", "-z")
    given = Arguments(words, frozenset(), frozenset(), values=frozenset(["-o"]))
    assert given.values("-o") == ["file", "x"]
    assert given.values("--output") == ["1"]
    assert given.values("-b") == ["c"]
    assert given.values("-f") == []
    assert given.given("--verbose") and not given.given("--output")
    assert [word.text for word in given.positionals()] == ["-", "-z"]
    test = glob("a|b-*")
    assert test("a") and test("b-c") and not test("b") and not glob("")("")


# ---- laws ----------------------------------------------------------------------------------------

ADDITIONS = [" ; rm -rf x", " > f", " | tee f", " $(rm x)", " && git push", " `rm x`"]
FRAGMENTS = [
    "ls", "git ", "log ", "cat <<E\n", "E\n", "'", '"', "\\", "#", "$(", ")", "`", "{", "}", "|",
    "&&", "exit;", "(", "if ", "[[ ", "<(", "${x:-", "case x in ",
]  # fmt: skip
lines = st.one_of(
    st.text(max_size=60),
    st.sampled_from([line for group in LABELLED.values() for line in group]),
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join),
)


@settings(max_examples=400, deadline=None)
@given(lines, st.sampled_from(ADDITIONS))
def test_no_line_stays_read_only_with_a_write_added(line: str, addition: str) -> None:
    assert effect(line) in EFFECTS
    assert effect(line + addition) != "read_only"


@settings(max_examples=100, deadline=None)
@given(lines)
def test_no_line_becomes_read_only_behind_a_write(line: str) -> None:
    assert effect("rm -rf x ; " + line) != "read_only"


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(max_size=12), max_size=6),
    st.sampled_from(["git", "curl", "find", "sed", "awk", "tar"]),
)
def test_any_words_behind_a_known_program(words: list[str], program: str) -> None:
    assert effect([program, *words]) in EFFECTS


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="s/yw[]\\;{}p0$,!\n ag#:e", max_size=30))
def test_any_sed_script_is_read_to_an_end(script: str) -> None:
    assert isinstance(sed_writes(script), str)
    # Two line ends: the first may belong to the text of an `a\`.
    assert sed_writes(script + "\n\nw f") != ""
