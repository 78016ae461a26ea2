"""Short forms of names, each as distinct as the names: without what all agents of a kind share, then letters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from string import ascii_lowercase

_PARTS = re.compile(r"(?P<head>[^(]*)(?:\((?P<inside>.*)\))?(?P<tail>[^)]*)", re.DOTALL)


def forms(names: Sequence[str]) -> list[list[str]]:
    """Returns the names in several forms, each shorter than the one before and as distinct as the names.

    First the names themselves; then without folders and parameters that all agents of a kind share; then with a letter
    in place of the parameters; finally letters only.
    """
    heads, insides = zip(*(_split(name) for name in names), strict=True)
    found = [list(names)]
    for form in (_differing(heads, insides), _lettered(heads, insides), [_letter(i) for i in range(len(names))]):
        if len(set(form)) == len(set(names)) and max(map(len, form)) < max(map(len, found[-1])):
            found.append(form)
    return found


def _split(name: str) -> tuple[str, tuple[str, ...]]:
    """Returns an agent without folders, its file and its parameters; and its parameters."""
    match = _PARTS.fullmatch(name)
    head, inside = (match["head"] + match["tail"], match["inside"]) if match else (name, None)
    return re.sub(r"^.*[/:](?=\w)", "", head), tuple(_commas(inside)) if inside else ()


def _commas(text: str) -> list[str]:
    """Returns the parts of a text between its outermost commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _differing(heads: Sequence[str], insides: Sequence[Sequence[str]]) -> list[str]:
    """Returns the names with the parameters in which agents of the same kind differ."""
    kinds: dict[str, list[set[str]]] = defaultdict(list)
    for head, inside in zip(heads, insides, strict=True):
        kinds[head].append(set(inside))
    shared = {head: set.intersection(*found) for head, found in kinds.items()}
    kept = [[part for part in inside if part not in shared[head]] for head, inside in zip(heads, insides, strict=True)]
    return [f"{head}({','.join(parts)})" if parts else head for head, parts in zip(heads, kept, strict=True)]


def _lettered(heads: Sequence[str], insides: Sequence[Sequence[str]]) -> list[str]:
    """Returns the names with a letter for the parameters, if several agents are of the same kind."""
    places: dict[str, list[Sequence[str]]] = defaultdict(list)
    names = []
    for head, inside in zip(heads, insides, strict=True):
        if inside not in places[head]:
            places[head].append(inside)
        names.append((head, places[head].index(inside)))
    return [f"{head} {_letter(place)}" if len(places[head]) > 1 else head for head, place in names]


def _letter(place: int) -> str:
    """Returns a, b, ..., z, aa, ab, ..."""
    before, last = divmod(place, len(ascii_lowercase))
    return (_letter(before - 1) if before else "") + ascii_lowercase[last]
