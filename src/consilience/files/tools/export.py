"""What a tool's file holds once its own form is gone: who answered what about which item, and the truth apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from consilience.data.axes import short, some
from consilience.data.names import as_written, check_spellings, cut, is_missing, sorted_names
from consilience.data.predictions import Predictions
from consilience.data.tables.columns import Column, Columns, are_few, is_number
from consilience.data.tables.layouts import answers_in
from consilience.data.tables.told import Told
from consilience.system.errors import InvalidPredictions, Say
from consilience.system.tables import Table
from consilience.system.untrusted import stem_of

WORDS = 4  # with so many spaces, and mostly different, answers are sentences
N_EXAMPLES, LONGEST = 3, 24  # so many answers are shown as an example, with so many characters of each part


class Given(NamedTuple):
    """A file as a reader gets it: parsed JSON, or the records of a table; and the question that the user names."""

    path: Path
    data: Any
    question: str | None = None

    @property
    def stem(self) -> str:
        """The name of the file, which tells the member where nothing else does."""
        return stem_of(self.path)


@final
@dataclass
class Reader:
    """One tool's form: how it is recognised, and what it is read as. It decorates the function that reads it.

    A file is recognised by keys that stand together. `a/b` is the key b inside of a, `*` any text, and `a[]` a list
    without records inside. A tool may write several forms: an object as a whole, records, or a table with columns.
    """

    name: str  # on the command line
    title: str
    item: str
    member: str
    label: str
    whole: tuple[str, ...] = ()  # each names the keys of one form
    records: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    repeats_columns: bool = False  # the same ones for each member
    verified: str = ""  # where the form was looked up; empty if it could not be
    read: Callable[[Given], Export] = field(init=False)

    def __call__(self, read: Callable[[Given], Export]) -> Reader:
        """The same, read by this function."""
        self.read = read
        return self

    def recognises(self, data: Any) -> bool:
        """Whether parsed JSON has the keys of one of the forms, or a table the columns."""
        if isinstance(data, Columns):
            return has_all_of_one(dict.fromkeys(map(str, data)), self.columns)
        if isinstance(data, list):
            return has_all_of_one(data[0] if data else None, self.records)
        return has_all_of_one(data, self.whole)


def has_all_of_one(record: Any, forms: tuple[str, ...]) -> bool:
    """Whether a record has all keys of one of the forms."""
    return any(all(_has(record, path) for path in keys.split(" ")) for keys in forms)


def _has(record: Any, path: str) -> bool:
    """Whether a record has a key, perhaps inside of another."""
    key, slash, inside = path.partition("/")
    name = key.removesuffix("[]")
    if not isinstance(record, dict):
        return False
    if name.isidentifier():  # most are no patterns
        values = [record[name]] if name in record else []
    else:
        values = [value for own, value in record.items() if fnmatchcase(str(own), name)]
    if key.endswith("[]"):
        return any(isinstance(own, list) and not any(isinstance(part, dict) for part in own) for own in values)
    return any(not slash or _has(value, inside) for value in values)


@final
@dataclass
class Export:
    """Answers as (item, member, label), or with probabilities by class instead of the label."""

    question: str | None = None
    answers: list[tuple[str, str, str | Mapping[str, float]]] = field(default_factory=list)
    truth: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    note: str | None = None  # on what the file cannot say
    classes: frozenset[str] = frozenset()  # that could be answered, if the tool says so
    both_orders: bool = False  # two answers to one item are to its first two classes in both orders
    shown: dict[str, str] = field(default_factory=dict)  # what an item shows, where its name may be given to another
    rows: list[str] = field(default_factory=list)  # the item of each row, if the file is a table with one in each

    def show(self, item: Any, shown: Any) -> None:
        """What members were asked about. Files in which an item of the same name shows something else do not pool."""
        text = shown if isinstance(shown, str) else json.dumps(shown, sort_keys=True, ensure_ascii=False)
        self.shown.setdefault(name_of(item), text)

    def add(self, item: Any, member: Any, said: Any, *, unless: str = "", is_true: bool = False) -> None:
        """One answer: a label, a list of one, or probabilities by class; or the truth, of somebody who knows it.

        It is left out, and counted, if there is a reason in `unless`, or if it is None or blank text.
        """
        if not unless:
            said = _one_answer(said, item, member)
        is_row = isinstance(said, dict)
        is_blank = not said if is_row else is_missing(said) or not str(said).strip()
        if unless or is_blank:
            self.left_out[unless or "records without an answer"] += 1
        elif is_true:
            self.know(item, said)
        else:
            self.answers.append((name_of(item), name_of(member), said if is_row else name_of(said)))

    def know(self, item: Any, label: Any) -> None:
        """The truth of one item; raises if it has another already."""
        name, true = name_of(item), name_of(label)
        if self.truth.setdefault(name, true) != true:
            raise InvalidPredictions(
                f"an item must have one true label; {short(name)} has {short(self.truth[name])} and {short(true)}"
            )

    @property
    def words(self) -> str:
        """What was read, and what was not."""
        question = "" if self.question is None else f" to {short(self.question)}"
        truth = f"{len(self.truth):,} true labels, for --known or --labels with the same file" if self.truth else ""
        return "; ".join(filter(None, (f"{len(self.answers):,} answers{question}", self.remarks, truth)))

    def predictions(self, told: Told) -> Predictions:
        """The answers of all members, labels beside probabilities if there are both."""
        if not self.answers:
            raise InvalidPredictions(f"it must have answers; it has none{self.remarks and f'; {self.remarks}'}")
        hard = [answer for answer in self.answers if isinstance(answer[2], str)]
        soft = [answer for answer in self.answers if not isinstance(answer[2], str)]
        parts = [_labels(hard, told, self.classes)] if hard else []
        if soft:
            parts.append(_rows(soft))
        made = parts[0] if len(parts) == 1 else Predictions.concatenate(parts)
        made.both_orders = self.both_orders
        return made

    @property
    def options(self) -> frozenset[str]:
        """The classes that have probabilities."""
        return frozenset(name for _, _, said in self.answers if not isinstance(said, str) for name in said)

    @property
    def remarks(self) -> str:
        """What was left out, and how many."""
        parts = [f"left out {n:,} {what}" for what, n in self.left_out.items() if n]
        return "; ".join(part for part in (*parts, self.note) if part is not None)

    @property
    def example(self) -> Table:
        """Some answers under what they were read as."""
        first = self.answers[:N_EXAMPLES]
        return Table(
            {
                role: [_short(answer[place]) for answer in first]
                for place, role in enumerate(("item", "member", "label" if isinstance(first[0][2], str) else "numbers"))
            }
        )


def pooled(exports: Mapping[str, Export]) -> Export:
    """The answers of several files, which must be to one question, and about one set of classes if they are shares."""
    first, *others = exports.values()
    if not others:
        return first
    if len({own.question for own in exports.values()}) > 1:
        raise InvalidPredictions(
            f"files must answer one question; got {some([own.question for own in exports.values()])}"
        )
    _check_same_items(exports)
    seen: dict[tuple[str, str], str] = {}
    for source, own in exports.items():
        for item, member, _ in own.answers:
            if seen.setdefault((item, member), source) != source:
                raise InvalidPredictions(
                    f"an answer must be in one file; that of {short(member)} to {short(item)} is in "
                    f"{seen[item, member]} and {source}"
                )
    offered = {own.options for own in exports.values() if own.options}
    if len(offered) > 1:
        raise InvalidPredictions(
            f"files must have the same options; got {' and '.join(some(sorted(o)) for o in offered)}"
        )
    classes = frozenset(name for own in exports.values() for name in own.classes)
    answers = [answer for own in exports.values() for answer in own.answers]
    both_orders = all(own.both_orders for own in exports.values())
    return Export(first.question, answers, classes=classes, both_orders=both_orders)


def _check_same_items(exports: Mapping[str, Export]) -> None:
    """Raise if two files call different things by the same name, such as the first question of two tests."""
    seen: dict[str, tuple[str, str]] = {}
    for source, own in exports.items():
        for item, shown in own.shown.items():
            before, known = seen.setdefault(item, (source, shown))
            if known != shown:
                raise InvalidPredictions(
                    f"files must be about the same items; {short(item)} is {short(known)} in {before}, and "
                    f"{short(shown)} in {source}: give the files of each task by themselves"
                )


def flattened(record: Mapping[str, Any], stays: Callable[[str, Any], bool] = lambda *_: False) -> dict[str, Any]:
    """A record without records inside, whose keys are joined by a point, but for those that are to stay whole."""
    made: dict[str, Any] = {}
    for key, value in record.items():
        inside = {key: value}
        if isinstance(value, dict) and not stays(key, value):
            inside = {f"{key}.{name}": part for name, part in flattened(value, stays).items()}
        if both := set(inside) & set(made):
            raise InvalidPredictions(f"a record must name its parts differently; got {both.pop()!r} twice")
        made |= inside
    return made


def name_of(value: Any) -> str:
    """A value of JSON as a name: true and false as JSON writes them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise InvalidPredictions(f"a name must be text or a number; got {short(value)}")
    return as_written(value)


def _short(value: Any) -> str:
    return cut(value if isinstance(value, str) else ", ".join(f"{n} {own:.2g}" for n, own in value.items()), LONGEST)


def _labels(answers: Sequence[tuple[str, str, Any]], told: Told, offered: frozenset[str]) -> Predictions:
    said = Counter(label for _, _, label in answers)
    if told.classes is None and is_free(said):
        raise InvalidPredictions(
            f"answers must be classes, one of a few for each item; {len(said):,} of {len(answers):,} differ, such as "
            f"{some(list(said)[:2])}, so that this is no classification: if it is, name all classes with "
            f"{Say('classes')}"
        )
    named = told.classes or ()
    if unknown := [label for label in said if told.classes is not None and label not in named]:
        raise InvalidPredictions(f"answers must be among the classes {some(named)}; got {short(unknown[0])}")
    classes = _classes({*said, *offered}) if told.classes is None else list(told.classes)
    places = {name: place for place, name in enumerate(classes)}
    return _placed(answers, np.array([places[label] for _, _, label in answers], dtype=np.intp), classes)


def _rows(answers: Sequence[tuple[str, str, Any]]) -> Predictions:
    """Rows of probabilities; a class that an item does not have among its options is impossible there."""
    classes = _classes({name for _, _, row in answers for name in row})
    return _placed(answers, np.array([[row.get(name, 0.0) for name in classes] for _, _, row in answers]), classes)


def _classes(names: Iterable[str]) -> list[str]:
    check_spellings(sorted(names), "label")
    return sorted_names(names)


def _placed(answers: Sequence[tuple[str, str, Any]], given: Any, classes: list[Any]) -> Predictions:
    items, members, _ = map(list, zip(*answers, strict=True))
    return answers_in(Column.of_list("item", items), Column.of_list("member", members), given, classes)


# ---- what readers refuse --------------------------------------------------------------------------------------


def is_free(labels: Counter[str]) -> bool:
    """Whether these labels, with how often each is given, are too many to be classes, or sentences of their own."""
    n_answers = labels.total()
    has_sentences = any(label.count(" ") >= WORDS for label in labels)
    return not are_few(len(labels), n_answers) or (has_sentences and 2 * len(labels) > n_answers)


def not_classes(what: str) -> InvalidPredictions:
    """Answers are spans, boxes or free text."""
    return InvalidPredictions(f"answers must be classes, one of a few for each item; it has {what}: no classification")


def _one_answer(said: Any, item: Any, member: Any) -> Any:
    """An answer, which is no list: the only label of one, None if it is empty."""
    if isinstance(said, list) and len(said) > 1:
        raise InvalidPredictions(
            f"an answer must be one class; {short(member)} gives {len(said)} to item {short(item)}, {some(said)}: "
            "several labels at once are no classification"
        )
    if isinstance(said, dict) and not all(map(is_number, said.values())):
        raise InvalidPredictions(
            f"an answer must be a label, or a number for each class; {short(member)} gives {short(said)} to item "
            f"{short(item)}"
        )
    return (said[0] if said else None) if isinstance(said, list) else said


def asked(given: Given, questions: Iterable[str], otherwise: str = "no answers") -> str:
    """The question that is read: the only one, or the one that the user names. `otherwise`: what a file without has."""
    names = list(dict.fromkeys(questions))
    if not names:
        raise not_classes(otherwise)
    if given.question in names:
        return str(given.question)
    if given.question is not None:
        raise InvalidPredictions(Say("question"), f" must be one of {some(names)}; got {given.question!r}")
    if len(names) == 1:
        return names[0]
    options = " or ".join(str(Say("question", name)) for name in names[:6])
    raise InvalidPredictions(f"one question is read at a time; it has {len(names)}: say {options}")
