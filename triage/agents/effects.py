"""What each effect word of the format files does to the tally: one small function per word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from triage.agents.format_model import Meaning, Rule
from triage.agents.values import (
    ABSENT,
    Path,
    blank,
    bounded,
    error_text,
    find,
    flat_numbers,
    numbers,
    said,
)

if TYPE_CHECKING:
    from triage.agents.reader import EventReader

__all__ = ["APPLY"]


def _first(value: Any, paths: tuple[Path, ...]) -> Any:
    for path in paths:
        found = find(value, path)
        if found is not ABSENT and found is not None:
            return found
    return ABSENT


def _word(value: Any, paths: tuple[Path, ...]) -> str | None:
    found = _first(value, paths)
    if isinstance(found, bool) or not isinstance(found, (str, int)):
        return None
    return bounded(str(found), 200) if isinstance(found, str) else str(found)[:40]


def _message(rule: Rule, value: Any, paths: tuple[Path, ...]) -> str:
    text = ""
    for path in paths:
        found = find(value, path)
        if found is not ABSENT:
            text = said(found) if isinstance(found, list) else ""
            text = text or error_text(found)
            if text:
                break
    details = []
    for path in rule.details:
        detail = error_text(find(value, path))
        if detail and detail not in text:
            details.append(detail[:120])
    if not details:
        return text
    return f"{text} ({', '.join(details)})" if text else ", ".join(details)


def _session(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.session = _word(value, arg) or r.tally.session


def _prompt(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.prompts += 1


def _open(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.opened = True


def _turn(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.turn_starts += 1


def _new_message(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.speak_up()


def _thinking(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.thinking += 1


def _text(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    if found is not ABSENT:
        r.tally.say(said(found))


def _text_delta(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    if found is not ABSENT:
        r.tally.say(said(found), delta=True)


def _said(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.say("(structured output)")


def _tool(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    call_id = _word(value, rule.id) if rule.id else None
    r.tally.call_tool(_word(value, _TOOL_NAMES) or "", call_id)


_TOOL_NAMES: tuple[Path, ...] = (
    ("name",), ("tool_name",), ("toolName",), ("tool",), ("part", "tool"), ("item", "type"),
    ("data", "toolName"), ("step_update", "tool_name"), ("toolCall", "value", "name"),
)  # fmt: skip


def _tool_count(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    number = len(found) if isinstance(found, list) else numbers(found)
    if number is not None and number > r.tally.tool_floor:
        r.tally.tool_floor = int(number)


def _tool_error(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.tool_errors += 1


def _terminal(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.end()


def _result(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    if found is ABSENT:
        return
    text = said(found)
    if r.tally.text_count == 0:
        # The terminal event repeats what the stream said; alone it is the text (json mode).
        r.tally.say(text)
    r.tally.keep_result(text)


def _status(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.native_status = _word(value, arg) or r.tally.native_status


def _is_error(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    if isinstance(found, bool):
        r.tally.is_error = found


def _exit_code(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    number = numbers(_first(value, arg))
    if number is not None:
        r.tally.native_exit = int(number)


def _subtype(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    name = _word(value, arg)
    if name is None:
        return
    r.native_subtype = name
    r.tally.native_status = name
    meaning = r.meaning(name)
    if meaning.kind != "error":
        # An error's own message is looked for by the rule that says it is fatal.
        r.stop(meaning, name)


def _reason(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    name = _word(value, arg)
    if name is None:
        return
    r.tally.terminal_reason = name
    meaning = r.formats.reasons.get(name)
    if meaning is not None:
        r.stop(meaning, name)


def _early_stop(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    meaning = r.formats.reasons.get(arg)
    r.stopped = True
    r.tally.stop_early(arg, meaning.subtype if meaning else "error_during_execution")


def _cancelled(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.stop(Meaning("cancelled", "cancelled", None), "cancelled")


def _note(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.notice(_message(rule, value, arg))


def _pending(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.pending = (_message(rule, value, arg), r.tally.place)


def _recovered(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.tally.recover()


def _fatal(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    r.fail(_message(rule, value, arg))


def _turns(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    number = numbers(_first(value, arg))
    if number is not None:
        r.tally.turns = int(number)


def _usage(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = flat_numbers(_first(value, arg), r.item.usage_names)
    if found:
        r.tally.usage = found


def _usage_sum(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    for name, number in flat_numbers(_first(value, arg), r.item.usage_names).items():
        total = numbers(r.tally.usage.get(name, 0) + number)
        if total is not None:
            r.tally.usage[name] = total


def _cost(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    number = numbers(_first(value, arg))
    if number is not None:
        r.tally.cost = float(number)


def _cost_sum(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    number = numbers(_first(value, arg))
    if number is not None:
        r.tally.cost = (r.tally.cost or 0.0) + number


def _duration(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    number = numbers(_first(value, arg))
    if number is not None:
        r.tally.duration_ms = number


def _denials(r: EventReader, rule: Rule, value: Any, arg: Any) -> None:
    found = _first(value, arg)
    if not isinstance(found, list):
        return
    names = []
    for item in found[:64]:
        name = item if isinstance(item, str) else _word(item, _TOOL_NAMES)
        if name and not blank(name):
            names.append(name)
    r.tally.deny(names, len(found))


# A word of the format files -> what it does.
APPLY: Mapping[str, Callable[[EventReader, Rule, Any, Any], None]] = {
    "session": _session,
    "prompt": _prompt,
    "open": _open,
    "turn": _turn,
    "message": _new_message,
    "thinking": _thinking,
    "text": _text,
    "text_delta": _text_delta,
    "said": _said,
    "tool": _tool,
    "tool_count": _tool_count,
    "tool_error": _tool_error,
    "terminal": _terminal,
    "result": _result,
    "status": _status,
    "is_error": _is_error,
    "exit_code": _exit_code,
    "subtype": _subtype,
    "reason": _reason,
    "early_stop": _early_stop,
    "cancelled": _cancelled,
    "note": _note,
    "pending": _pending,
    "recovered": _recovered,
    "fatal": _fatal,
    "turns": _turns,
    "usage": _usage,
    "usage_sum": _usage_sum,
    "cost": _cost,
    "cost_sum": _cost_sum,
    "duration_ms": _duration,
    "denials": _denials,
}
