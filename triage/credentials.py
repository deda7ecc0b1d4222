"""Which names hold credentials, and which values given to them are secrets and not prose.

``token: expired``, ``--token <TOKEN>``, ``password = getpass()`` and ``password: str`` are what
ordinary errors, usage texts and tracebacks say; masking them would hide the cause. So the value
decides: a password is taken as one unless it says what is wrong with the password, anything else
has to look like a secret the less certain its place is.
"""

from __future__ import annotations

import re

__all__ = [
    "FOREIGN_WORDS",
    "WORDS",
    "WORD_PATTERN",
    "is_placeholder",
    "is_qualified",
    "is_saying",
    "is_secret",
    "kind_of",
    "looks_random",
    "named_credential",
]

# Patterns are kept as text here: `re` compiles the few that a text needs, and remembers them.
#
# Each name of a credential holds one of these, in lower case. What knows more about names and
# values is imported for a text that has one: most have none, and start-up time counts.
WORDS = ("passw", "passphrase", "passcode", "pwd", "pw", "psw", "_pass", "-pass", "secret", "token",
         "key", "credential", "auth")  # fmt: skip
# "password" in other languages. Prose follows it there too, in words that nobody lists here.
FOREIGN_WORDS = (
    "passwort", "kennwort", "mot de passe", "mot_de_passe", "motdepasse", "contraseña",
    "contrasena", "contrasenya", "clave", "senha", "palavra-passe", "parola", "wachtwoord",
    "lösenord", "losenord", "adgangskode", "passord", "salasana", "hasło", "haslo", "heslo",
    "jelszó", "jelszo", "lozinka", "geslo", "parool", "slaptažodis", "slaptazodis", "şifre",
    "sifre", "пароль", "κωδικός", "mật khẩu", "mat_khau", "kata sandi", "kata_sandi", "סיסמה",
    "كلمة المرور", "كلمة السر", "पासवर्ड", "รหัสผ่าน", "密码", "密碼", "口令", "パスワード",
    "暗証番号", "비밀번호", "암호",
)  # fmt: skip
# The end of a name. `pass` and `pwd` are words of prose and of the shell too, hence their borders.
WORD_PATTERN = (
    r"(?:passwor[dt]|kennwort|passwd|passphrase|passcode|(?<![a-z0-9])p(?:s?w|wd)|(?:(?<=_)|(?<=--))pass|secret"
    r"|token|(?:api|access|secret|private|signing|encryption|account|master|auth|subscription"
    r"|shared|storage)[ _.-]?key|credentials?|authorization|(?<![a-z0-9])auth"
    rf"|(?<![a-z0-9])(?:{'|'.join(FOREIGN_WORDS)}))"
)

# One of these stands in every name in ASCII that holds a credential; compiling the pattern for a
# name that has none would be a fiftieth of a process.
_STEMS = (
    *("pass", "pw", "psw", "kennwort", "secret", "token", "key", "credential", "auth"),
    *filter(str.isascii, FOREIGN_WORDS),
)
_NAME = rf"(?i){WORD_PATTERN}\Z"
# Tokens that are no credentials: of a page, of a parser, of a language model.
_OTHER_TOKEN = (
    r"(?:page|next|prev|previous|continuation|cursor|sync|start|end|max|min|num|total|stop|eos|bos"
    r"|pad|unk|special|unexpected|expected|illegal|unrecognized|current|last|first)[ _-]?\Z"
)
_JOINED = r"[A-Za-z0-9][_.-]?\Z"
_LONGEST_PLACEHOLDER = 80
_MASKED = r"\[masked:[a-z0-9-]{1,40}\]"
# What stands for a value in usage texts, templates, and texts somebody masked before.
_PLACEHOLDER = r"""(?ix)
    \$ [a-z_]\w* | \$ [{(] .* | % (?: \w* % | [({] .* ) | .* % [sdvrq] .* | < [^>]* > | \{ .* \}
  | \[ [^\]]* \]
  | [\w.-]{0,24}? x{4,} | \*{2} .* | [x*.\-_?#\u2022\u2026]+ | .* (?: \*{3} | \.{3} | \u2026 ) .*
  | (?-i: [A-Z_]* (?: TOKEN | KEY | SECRET | PASS | PASSWORD | VALUE | STRING | TEXT ) [A-Z_]* )
  | (?: your | my | the | some | insert | enter ) [_-]? (?-i: [A-Z_]* )
  | your [_-] .*
  | .* (?: placeholder | redacted | change[_-]?me ) .*
    """
_PATH = r"(?:~|\.{1,2})?/[\w.@~-]+(?:/[\w.@ ~-]*)+|[A-Za-z]:[\\/].*|~/.*|\.{1,2}/.*|/dev/.*"
_FILE_NAME = r"[\w./~-]+\.(?:pem|key|crt|json|ya?ml|txt|env|toml|ini|cfg|conf|py|js|ts|go)"
_CODE = r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+"
_CODE_GOES_ON = (")", ", ", ",\n")
_DATE = r"\d{4}-\d\d-\d\d"
_WORDLIKE = r"[A-Za-z]+(?:[-'_][A-Za-z]+)*"

# What a message, a type or a setting says where a credential's value would stand.
_SAYINGS = frozenset({
    "a", "absent", "accepts", "access", "all", "already", "an", "and", "any", "app", "argument",
    "arguments", "array", "as", "at", "authentication", "authorization", "auto", "bad", "basic",
    "bearer", "before", "blank", "bool", "boolean", "but", "bytes", "can", "cannot", "char",
    "check", "config", "could", "credential", "credentials", "default", "denied", "digest",
    "disabled", "does", "empty", "enabled", "env", "environment", "error", "errors", "expects",
    "expired", "expires", "fail", "failed", "failure", "false", "field", "fields", "file",
    "first", "flag", "flags", "for", "forbidden", "found", "from", "function", "given", "has",
    "have", "header", "headers", "hidden", "if", "in", "include", "incorrect", "inherit",
    "instead", "insufficient", "int", "integer", "invalid", "is", "it", "key", "keys", "login",
    "malformed", "masked", "mismatch", "mismatched", "missing", "must", "name", "needs", "new",
    "nil", "no", "none", "not", "null", "number", "object", "of", "ok", "omit", "on", "one",
    "only", "option", "optional", "options", "or", "parameter", "parameters", "passphrase",
    "password", "passwords", "path", "please", "prompt", "provided", "reader", "refused",
    "rejected", "removed", "required", "requires", "reset", "returned", "revoked",
    "same-origin", "secret", "secrets", "see", "set", "should", "source", "stdin", "str",
    "string", "success", "takes", "text", "that", "the", "this", "to", "token", "tokens", "too",
    "true", "type", "unable", "unauthenticated", "unauthorized", "undefined", "unexpected",
    "unknown", "unset", "unsupported", "use", "used", "user", "username", "valid", "validation",
    "value", "values", "verified", "void", "was", "were", "when", "will", "with", "without",
    "wrong", "yes", "you", "your",
})  # fmt: skip
_PASSWORDS = frozenset({"pass", "passwd", "passcode", "psw", "pw", "pwd"})
_FOREIGN = frozenset(re.sub(r"[ _.]", "-", word) for word in FOREIGN_WORDS)
_POOR_PASSWORDS = frozenset({"default", "key", "login", "password", "secret", "text", "user"})


def kind_of(word: str) -> str:
    """Return the kind a mask shows for a name's word: ``API_KEY`` is an ``api-key``."""
    word = re.sub(r"[ _.]", "-", word.lower())
    return "password" if word in _PASSWORDS or word in _FOREIGN else word


def named_credential(name: str) -> tuple[str, bool] | None:
    """Return (word, qualified) where `name` holds a credential: ``access_token``, ``DB_PASS``."""
    if name.isascii() and not any(stem in name.lower() for stem in _STEMS):
        return None
    found = re.search(_NAME, name[-64:])
    if found is None:
        return None
    word = found[0].lower()
    qualified = is_qualified(name[: len(name) - len(word)], word)
    return None if qualified is None else (word, qualified)


def is_qualified(before: str, word: str) -> bool | None:
    """Whether the name has more than its `word`, given the text before it.

    A bare ``token`` may be a parser's, so it counts for less. None where the name is no
    credential's at all: ``next_page_token``.
    """
    before = before[-16:]
    if word == "token" and re.search(_OTHER_TOKEN, _snake(before)):
        return None
    return "key" in word or re.search(_JOINED, before) is not None


def is_placeholder(value: str) -> bool:
    """Whether `value` stands for a secret and is none: ``<TOKEN>``, ``$TOKEN``, ``****``."""
    if len(value) > _LONGEST_PLACEHOLDER:
        return False
    return re.fullmatch(_MASKED, value) is not None or re.fullmatch(_PLACEHOLDER, value) is not None


def is_saying(value: str) -> bool:
    """Whether `value` is a word that messages have where a value could stand."""
    return value.rstrip(".:!?,").lower() in _SAYINGS


def is_secret(
    word: str,
    qualified: bool,
    value: str,
    *,
    firm: bool,
    quoted: bool,
    alone: bool,
    after: str = "",
    certain: bool = False,
) -> bool:
    """Decide whether `value`, given to a name (see `named_credential`), is to be masked.

    `firm`: an assignment that leaves no room for prose (``x=y``, a JSON string, an option's
    argument). `quoted`: it stood in quotes. `alone`: nothing follows on its line. `after`: the
    two characters after it. `certain`: nothing but the value can stand there (``--token 'x y'``).
    """
    bare = value.strip().rstrip(".:!?")
    words = bare.lower().split()
    if len(bare) < 2:
        return False
    foreign = kind_of(word) == "password" and re.sub(r"[ _.]", "-", word.lower()) in _FOREIGN
    of_password = foreign or kind_of(word) in ("password", "passphrase")
    if certain:
        return not is_placeholder(value.strip()) and not _points_elsewhere(bare)
    says = words[0] in _SAYINGS or (len(words) > 1 and not _SAYINGS.isdisjoint(words))
    if says and not (of_password and firm and bare.lower() in _POOR_PASSWORDS):
        return False
    if is_placeholder(value.strip()) or _points_elsewhere(bare):
        return False
    if (bare[0] in ",;)") if quoted else _is_code(bare, after, firm):
        return False
    if of_password:
        if firm or quoted:
            return len(words) < 8
        # `pwd: x` is a directory, or a module of Python.
        short = alone and len(word) > 3 and not foreign and len(bare) >= 4
        return len(words) == 1 and (short or looks_random(bare, 6))
    if len(words) > 1 or bare.isdigit() or re.match(_DATE, bare):
        return False
    if word == "auth":
        return looks_random(bare, 16)
    if firm or quoted:
        return (qualified and len(bare) >= 4) or looks_random(bare) or len(bare) >= 12
    return looks_random(bare) or (alone and len(bare) >= 16)


def _is_code(value: str, after: str, firm: bool) -> bool:
    """``self.password``, ``connect(password=password, user=user)``, ``token = read(path)``."""
    if re.fullmatch(_CODE, value) or (after[:1] in ("(", "[") and value.isidentifier()):
        return True
    return re.fullmatch(_WORDLIKE, value) is not None and (
        after.startswith(_CODE_GOES_ON) or (not firm and named_credential(value) is not None)
    )


def looks_random(value: str, least: int = 8) -> bool:
    """Whether letters and digits are mixed."""
    return (
        len(value) >= least
        and any(char.isdigit() for char in value)
        and any(char.isalpha() for char in value)
    )


def _points_elsewhere(value: str) -> bool:
    """A path, a file name or an address says where the secret is, not what it is."""
    if "://" in value or re.fullmatch(_FILE_NAME, value) is not None:
        return True
    # Base64 has slashes too, but no directory is called like that.
    return re.fullmatch(_PATH, value) is not None and not any(
        looks_random(part, 16) and not part.islower() for part in re.split(r"[/\\]", value)
    )


def _snake(name: str) -> str:
    """``nextPage`` as ``next_page``, so that camel case ends in the same words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
