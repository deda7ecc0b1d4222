"""The known translations: each language is recognised, and nothing that is English."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from triage.cases import Case, load_cases
from triage.pattern import compile_pattern, needs
from triage.text import read_stream

RULES = Path(__file__).parent.parent / "rules"
LANGUAGES: dict[str, list[str]] = yaml.safe_load((RULES / "sets/languages.yaml").read_text())[
    "languages"
]
# Language, pattern, and words of which one must be there: most patterns need not be tried.
PATTERNS = [
    (code, compile_pattern(one), needs(one).clauses[0])
    for code, all_ in LANGUAGES.items()
    for one in all_
]
# Foreign text that another row takes: exit 127, or no failure at all.
LABELLED = {
    "b15-de-127",
    "b15-de-git-status-clean",
    "german-success",
    "report-zh-command-not-found",
}
NO_SUCH_FILE = {
    "bg": "cat: x: Няма такъв файл или директория",
    "ca": "cat: x: El fitxer o directori no existeix",
    "cs": "cat: x: Adresář nebo soubor neexistuje",
    "da": "cat: x: Ingen sådan fil eller filkatalog",
    "de": "cat: x: Datei oder Verzeichnis nicht gefunden",
    "el": "cat: x: Δεν υπάρχει τέτοιο αρχείο ή κατάλογος",
    "es": "cat: x: No existe el fichero o el directorio",
    "et": "cat: x: Sellist faili või kataloogi ei ole",
    "fi": "cat: x: Tiedostoa tai hakemistoa ei ole",
    "fr": "cat: x: Aucun fichier ou dossier de ce type",
    "gl": "cat: x: Non hai tal ficheiro ou directorio",
    "hr": "cat: x: Nema takve datoteke ili direktorija",
    "hu": "cat: x: Nincs ilyen fájl vagy könyvtár",
    "id": "cat: x: Tidak ada berkas atau direktori seperti itu",
    "it": "cat: x: File o directory non esistente",
    "ja": "cat: x: そのようなファイルやディレクトリはありません",
    "ko": "cat: x: 그런 파일이나 디렉터리가 없습니다",
    "lt": "cat: x: Toks failas ar aplankas neegzistuoja",
    "nb": "cat: x: Ingen slik fil eller filkatalog",
    "nl": "cat: x: Bestand of map bestaat niet",
    "pl": "cat: x: Nie ma takiego pliku ani katalogu",
    "pt": "cat: x: Ficheiro ou pasta inexistente",
    "pt_BR": "cat: x: Arquivo ou diretório inexistente",
    "ru": "cat: x: Нет такого файла или каталога",
    "sk": "cat: x: Adresár alebo súbor neexistuje",
    "sl": "cat: x: Datoteka ali imenik s tem imenom ne obstaja",
    "sr": "cat: x: Нема такве датотеке или директоријума",
    "sv": "cat: x: Filen eller katalogen finns inte",
    "tr": "cat: x: Böyle bir dosya ya da dizin yok",
    "uk": "cat: x: Немає такого файла або каталогу",
    "vi": "cat: x: Không có tập tin hoặc thư mục như vậy",
    "zh_CN": "cat: x: 没有那个文件或目录",
    "zh_TW": "cat: x: 沒有此一檔案或目錄",
}


def languages_of(text: str) -> list[str]:
    """The languages of which a known message stands in `text`."""
    lowered = text.lower()
    found = (
        code
        for code, pattern, words in PATTERNS
        if any(word in lowered for word in words) and pattern.search(text)
    )
    return list(dict.fromkeys(found))


def test_each_language_has_a_sample() -> None:
    # The system library speaks the others; of these only some tools do.
    assert set(NO_SUCH_FILE) | {"ar", "he", "ro", "th"} == set(LANGUAGES)


@pytest.mark.parametrize(("code", "line"), NO_SUCH_FILE.items())
def test_the_commonest_error_is_known_in_every_language(code: str, line: str) -> None:
    assert code in languages_of(line)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("de", "a.c:1:24: schwerwiegender Fehler: fehlt.h: Datei oder Verzeichnis nicht gefunden"),
        ("de", "make: *** [Makefile:2: all] Fehler 1"),
        ("de", "tool: unbekannte Option »--umgekehrt«"),
        ("de", 'Die Benennung "jqq" wurde nicht als Name eines Cmdlet, einer Funktion erkannt.'),
        ("fr", "E: Impossible de trouver le paquet paquet-absent"),
        ("fr", "'jqq' n'est pas reconnu en tant que commande interne"),
        ("fr", "bash: ligne 1 : jqq : commande introuvable"),
        ("es", "fatal: no es un repositorio git (ni ninguno de los directorios superiores): .git"),
        ("es", "tar: Se sale con estado de fallo debido a errores anteriores"),
        ("it", "npm: errore: opzione sconosciuta"),
        ("pt_BR", "mkdir: não foi possível criar o diretório “x”: Arquivo existe"),
        ("nl", "Het systeem kan het opgegeven bestand niet vinden."),
        ("pl", "E: Nie udało się odnaleźć pakietu x"),
        ("ru", '"jqq" не является внутренней или внешней'),
        ("ru", "svn: ошибка: не удалось открыть файл"),
        ("uk", "tool: невідомий параметр «--x»"),
        ("cs", "make: *** Žádné pravidlo jak vyrobit cíl „x“. Konec."),
        ("sv", 'fel: sökvägsangivelsen "x" motsvarar inte någon fil'),
        ("sv", "Försök med ”tar --help” eller ”tar --usage” för mer information."),
        ("el", "fatal: Δεν έχει ρυθμιστεί προορισμός δημοσίευσης."),
        ("fr", "Utilisation : useradd [options] IDENTIFIANT"),
        ("es", "date: fecha inválida «ayer»"),
        ("fi", "rm: tiedostoa 'x' ei voi poistaa: Lupa evätty"),
        ("tr", "hata: yol belirteci 'x' bulunamadı"),
        ("ja", "A.java:1: エラー: 不適合な型"),
        ("ja", "fatal: リモートリポジトリから読み込めませんでした: 接続できませんでした"),
        ("ko", "tool: 알 수 없는 옵션: x"),
        ("zh_CN", "B.java:1: 错误: 需要';'"),
        ("zh_CN", "'jqq' 不是内部或外部命令，也不是可运行的程序"),
        ("zh_TW", "E: 找不到套件 x"),
        ("vi", "lỗi: không thể mở tập tin"),
        ("he", "שגיאה: משהו"),
        ("ro", "E: Nu s-a putut localiza pachetul x"),
        ("ar", "E: تعذر العثور على الحزمة x"),
        ("th", "E: ไม่พบแพกเกจ x"),
    ],
)
def test_errors_of_many_tools_are_known(code: str, line: str) -> None:
    assert code in languages_of(line)


@pytest.mark.parametrize(
    "text",
    [
        "cat: größe.txt: No such file or directory",
        "error: pathspec 'größe' did not match any file(s) known to git",
        "error TS2322: Type 'é' is not assignable to type 'string'.",
        "fatal: pathspec '한글.txt' did not match any files",
        "Error: Ошибка",
        "AssertionError: 'привет мир' != 'hello'",
        "Grüße aus Köln\nHier wurde nichts gefunden, was nicht erlaubt ist\n",
        "Ce fichier explique comment faire; aucune erreur n'est survenue\n",
        "ファイルを保存しました\n",
        "Всё готово, ошибок нет\n",
        "全部测试通过\n",
        "commit 1a2b3c\n    Fix the word Fehler in the German texts\n",
        '{"error_de": "Datei oder Verzeichnis nicht gefunden"}',
        "  de: 'Konnte nicht geladen werden'\n",
    ],
)
def test_names_and_ordinary_sentences_are_no_errors(text: str) -> None:
    assert languages_of(text) == []


def test_no_english_case_of_the_corpus_is_taken_for_foreign(root: Path) -> None:
    wrong = {}
    for case in load_cases(root / "corpus"):
        if case.row != 15 and 15 not in case.row_alt and case.agent is None:
            found = [code for text in _texts(case) for code in languages_of(text)]
            if found and case.id not in LABELLED:
                wrong[case.id] = found
    assert wrong == {}


def test_the_foreign_cases_of_the_corpus_are_known_without_any_catalogue(root: Path) -> None:
    missed = [
        case.id
        for case in load_cases(root / "corpus" / "15-foreign-language")
        if not any(languages_of(text) for text in _texts(case))
    ]
    # KOI8-R and EUC-JP bytes: a row of their own knows them by their shape.
    assert set(missed) <= {"b15-ru-koi8-cp", "b15-ja-eucjp-mv"}


def test_every_pattern_can_be_skipped_by_the_prefilter() -> None:
    for code, all_ in LANGUAGES.items():
        assert len(all_) == len(set(all_)), code
        for pattern in all_:
            wanted = needs(pattern)
            assert wanted.clauses, (code, pattern)
            assert wanted.re2 is not None, (code, pattern)


def _texts(case: Case) -> list[str]:
    streams: list[tuple[str, Any]] = [
        ("stdout", case.capture.stdout),
        ("stderr", case.capture.stderr),
        ("merged", case.capture.merged),
    ]
    return [
        read_stream(name, source, head=1 << 20, tail=1 << 20).text
        for name, source in streams
        if source
    ]
