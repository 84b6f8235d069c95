"""What the user says of how tables are laid out, and what the usual names of columns say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from consilience.data.axes import short
from consilience.data.names import cut
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from consilience.data.tables.columns import Column


class Told(NamedTuple):
    """What the user says; whatever is None is found out.

    `item`, `member` and `label` name columns of tables. `item` may join several, as in `question+model`; `member` may
    list the columns of a wide table that are members, as in `ann,bob`. `classes` picks the columns of classes in
    tables, and names the classes of arrays. `items` names the items of files without names. `normalize` says that rows
    of numbers are to be divided by their sum. `positive` names the class whose probability alone is given.
    `strict` says that no column which may hold answers is left out unsaid: Python does not print what was not read.
    `sources` are the files that names were read from. `format` names the tool that wrote the files, and `question` the
    one of its questions that is read. `ordered` says that the classes are ratings.
    """

    item: str | None = None
    member: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    normalize: bool = False
    sources: tuple[str, ...] = ()
    positive: str | None = None
    strict: bool = False
    format: str | None = None
    question: str | None = None
    ordered: bool = False

    @property
    def are_named(self) -> bool:
        """Whether the user named a column of items, members or labels."""
        return (self.item, self.member, self.label) != (None, None, None)


N_SAMPLES, LONGEST, LONGEST_NAME, MOST_LISTED = 2, 16, 120, 6
"""How many values of a column are shown, how many characters of each and of a name, and how many columns are listed."""


def names_of(columns: Iterable[Column]) -> list[Any]:
    """The names of columns."""
    return [column.name for column in columns]


def say_columns(argument: Literal["member", "classes"], columns: Iterable[Column]) -> Say:
    """These columns as the members of a wide table, or as classes."""
    names = tuple(map(str, names_of(columns)))
    return Say(argument, names if argument == "classes" else ",".join(names))


def options(argument: str, *columns: Column | list[Column], before: str = "") -> str:
    """Columns, or columns to be joined, as what to say, with two values of each: none goes before another."""
    said = []
    for own in [own if isinstance(own, list) else [own] for own in columns[:MOST_LISTED]]:
        name = cut("+".join(map(str, names_of(own))), LONGEST_NAME)
        given = [column.given for column in own if column.given]
        values = dict.fromkeys("/".join(str(each[place % len(each)]) for each in given) for place in range(N_SAMPLES))
        said.append(f"{Say(argument, name)} ({', '.join(cut(value, LONGEST) for value in values)})")
    return f"{before if said else ''}{' or '.join(said)}{' or another' if len(columns) > MOST_LISTED else ''}"


def unclear(argument: str, *columns: Column) -> InvalidPredictions:
    """Several columns may have a role."""
    together = f", or {Say(argument, '+'.join(names_of(columns)))} for all together" if argument == "item" else ""
    return InvalidPredictions(
        f"one column must hold the {argument}; {' and '.join(map(short, names_of(columns[:MOST_LISTED])))} may: say "
        f"{options(argument, *columns)}{together}"
    )


Role: TypeAlias = Literal["item", "member", "label", "score", "truth", "other"]

# ---- the usual names of columns, and their roles --------------------------------------------------------------

ITEM = ("item", "task", "item_id", "task_id", "id", "example", "question", "document", "image", "index")
MEMBER = ("member", "worker", "annotator", "model", "judge", "rater", "labeler", "user", "worker_id", "annotator_id")
LABEL = ("label", "answer", "vote", "response", "annotation", "prediction", "class", "verdict")
TRUTH = ("labels", "gold", "truth", "true", "target", "targets", "y", *LABEL)
"""Usual names of columns and arrays with these meanings, in order of preference."""

UNNAMED = ("", "Unnamed: 0", "__index_level_0__", "level_0")
"""The names pandas gives an index without a name: in CSV, in CSV read and written again, in Parquet, as a column."""

FUSED = ("answer", "confidence", "n_answers", "agreement", "review")
"""What stands beside each item in a table of fused answers: see `consilience.answers`."""

RATED = (*FUSED, "expected_rating", "median_rating", "low_rating", "high_rating")
"""The same where classes are ratings."""

EXACT: dict[Role, tuple[str, ...]] = {"item": ITEM, "member": MEMBER, "label": LABEL}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


JUDGED = _words("model network llm classifier")
"""Members that may themselves be what others judge: beside a judge, a model is what is judged."""

LAST_WORDS: dict[Role, frozenset[str]] = {
    "item": _words(
        "item task example question document doc image sample instance record file filename filepath prompt query "
        "sentence text hit unit passage utterance tweet article comment review instruction input conversation dialogue "
        "observation trace case row qid docid itemid taskid questionid exampleid sampleid"
    ),
    "member": JUDGED
    | _words(
        "member worker annotator judge rater labeler labeller user coder reviewer expert performer assessor evaluator "
        "grader contributor"
    ),
    "label": _words(
        "label answer vote response annotation prediction class verdict judgment judgement decision choice category "
        "preference winner predicted pred sentiment"
    ),
    "score": _words("score rating grade stars points correct"),
}
"""The last word of a column's name that tells its role, as in `judge_model`."""

TRUE = _words("gold golden gt truth groundtruth true target expected reference adjudicated hint goldstandard")
"""A column with one of these words in its name holds true labels."""

PERHAPS_TRUE = _words(
    "actual correct final majority expert consensus key verified y aggregated agreed resolved adjudication labels"
)
"""A column all of whose words are these, or mean a label, may hold true labels, or be a member called so."""

BESIDE_TRUE = _words("y test val dev ground correct standard result")
"""Words that say nothing else beside those that mean the truth, as in `y_test` and `ground_truth`."""

NOT_LAST = _words("id ids name key no nr num number idx index code uid uuid hash path email")
"""Words after the one that tells the role, as in `question_id`."""

NO_ANSWERS = _words("requester input hint golden")
"""First words of columns in which crowdsourcing tools repeat what was asked, and not what was answered."""

MEASURES = _words("confidence agreement entropy uncertainty margin weight temperature length")
"""Words in the names of columns whose numbers describe items."""

WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters."""
    return [word.lower() for word in WORD.findall(name)]


def role_of(name: str) -> Role | None:
    """The role that a column's name suggests.

    >>> [role_of(name) for name in ("question_id", "judge_model", "predictedLabel", "gold_label", "annotator_1")]
    ['item', 'member', 'label', 'truth', None]
    >>> [role_of(name) for name in ("y_test", "correct_answer", "RequesterAnnotation", "Input.label", "GOLDEN:result")]
    ['truth', 'truth', 'other', 'other', 'truth']
    """
    words = words_of(name)
    if not words:
        return None
    if is_true(words):
        return "truth"
    is_asked = words[0] in NO_ANSWERS and len(words) > 1
    while words and words[-1] in NOT_LAST:
        words.pop()
    if not words:
        return "item"
    found = next((role for role, last in LAST_WORDS.items() if words[-1] in last), None)
    return "other" if is_asked and found != "item" else found


def is_true(words: list[str]) -> bool:
    """Whether a name of these words says that a column holds true labels."""
    if words[0] == "y" and words[1:] in (["test"], ["true"], ["val"], ["dev"]):
        return True
    is_correct = words[0] == "correct" and words[-1] in LAST_WORDS["label"]
    return is_correct or (bool(TRUE & set(words)) and words != ["true"])  # somebody may be called so


def is_called_truth(name: str) -> bool:
    """Whether all words of a column's name say that it holds true labels, as in `gold_label` and `true_class_id`."""
    known, words = TRUE | LAST_WORDS["label"] | NOT_LAST | BESIDE_TRUE, words_of(name)
    return words[0] in NO_ANSWERS or all(word in known for word in words)


def may_be_truth(name: str) -> bool:
    """Whether a column may hold true labels, or be a member that is called so: `final_label`, `reference-model`."""
    words = words_of(name)
    if not words:
        return False
    if role_of(name) == "truth":
        return not is_called_truth(name)
    others = LAST_WORDS["label"] | NOT_LAST | {"labels", "answers"}
    return bool(PERHAPS_TRUE & set(words)) and all(word in PERHAPS_TRUE | others for word in words)


def is_judged(name: str) -> bool:
    """Whether a column names models and nobody who judges them."""
    words = words_of(name)
    return bool(JUDGED & set(words)) and not (LAST_WORDS["member"] - JUDGED) & set(words)


def is_id(name: str) -> bool:
    """Whether a name ends in `id`."""
    return name.strip().lower().endswith("id")


def rank(name: str, usual: Sequence[str]) -> int:
    """The place among usual names; that of `question_id` is the place of `question`."""
    plain = name.strip().lower()
    if plain not in usual and is_id(name):
        plain = plain.removesuffix("id").rstrip("_ -")
    return usual.index(plain) if plain in usual else len(usual)


def first_named(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """The column with the first of the usual names."""
    by_name = {name.strip().lower(): name for name in reversed(names)}  # the first of two
    by_name |= {name: name for name in names}  # an exact match comes before another case
    return next((by_name[name] for name in usual if name in by_name), None)
