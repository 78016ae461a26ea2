"""Short forms of names, each as distinct as the names: without what all agents of a kind share, then letters."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase

from turnier.core.errors import UserError
from turnier.core.text_form import Spec, parse

READABLE = 40  # characters of a name that is shown whole
_DIGITS = 3, 5, 0  # significant digits of numbers, more where names would otherwise be the same; 0 = as they are
_LONG = re.compile(r"-?\d+\.\d{5,}(?:e[+-]?\d+)?|-?\d(?:\.\d+)?e[+-]?\d+")  # a number with digits that nobody reads

Parts = Mapping[str, str]  # the parameters of an agent by path, such as evaluator.merge


def readable(names: Sequence[str]) -> list[str]:
    """Returns the names with short forms in place of those that are long, as distinct as the names.

    A name is long if it has more than READABLE characters or a number of many digits. Its form says in which
    parameters it differs from the other agents of its kind; as few of them as are needed if they are many.
    """
    long = [len(name) > READABLE or _LONG.search(name) is not None for name in names]
    if not any(long) or len(set(names)) == 1:  # nothing to tell a single agent from
        return list(names)
    found = list(names)
    for form in _telling(names):
        mixed = [one if is_long else name for one, name, is_long in zip(form, names, long, strict=True)]
        if len(set(mixed)) == len(set(names)):
            found = mixed
            if max(map(len, mixed)) <= READABLE:
                break
    return found


def forms(names: Sequence[str]) -> list[list[str]]:
    """Returns the names, and what tells them from each other, in forms of which each is shorter than the one before."""
    told = list(_telling(names))
    kind = f"{kind_of(names[0])} "
    if all(name.startswith(kind) for name in told[-1]):
        told.append([name.removeprefix(kind) for name in told[-1]])
    return _shorter([list(names), *told])


def letters(names: Sequence[str]) -> list[list[str]]:
    """Returns shorter forms of the names: with a letter in place of the parameters, and letters only."""
    heads, parts = zip(*map(_split, names), strict=True)
    return _shorter([list(names), _lettered(heads, parts), [_letter(i) for i in range(len(names))]])[1:]


def _shorter(some: Sequence[list[str]]) -> list[list[str]]:
    """Returns those of several forms that are as distinct as the first, and shorter than the one before."""
    found = [some[0]]
    for form in some[1:]:
        if len(set(form)) == len(set(some[0])) and max(map(len, form)) < max(map(len, found[-1])):
            found.append(form)
    return found


def kind_of(name: str) -> str:
    """Returns the kind of an agent: its name without folders and parameters, or the program that it is."""
    return _split(name)[0]


def _telling(names: Sequence[str]) -> Iterator[list[str]]:
    """Yields the names as kinds of agents with the parameters in which they differ: all of them; only those needed."""
    heads, parts = zip(*map(_split, names), strict=True)
    places: dict[str, list[int]] = defaultdict(list)
    for place, head in enumerate(heads):
        places[head].append(place)
    differing: list[Parts] = [{} for _ in names]
    needed: list[Parts] = [{} for _ in names]
    for some in places.values():
        shared = set.intersection(*(set(parts[place].items()) for place in some))
        for place in some:
            differing[place] = {path: text for path, text in parts[place].items() if (path, text) not in shared}
        few = _few([differing[place] for place in some])
        for place in some:
            needed[place] = {path: text for path, text in differing[place].items() if path in few}
    for kept in (differing, needed):
        yield next(
            (
                form
                for form in (_written(heads, kept, digits) for digits in _DIGITS)
                if len(set(form)) == len(set(names))
            ),
            list(names),
        )


def _few(agents: Sequence[Parts]) -> list[str]:
    """Returns a few paths whose values tell agents of a kind from each other, those first that tell most apart."""
    paths = dict.fromkeys(path for parts in agents for path in parts)
    wanted = len({tuple(sorted(parts.items())) for parts in agents})
    chosen: list[str] = []

    def told(path: str) -> int:
        return len({tuple(parts.get(one) for one in (*chosen, path)) for parts in agents})

    while paths and (not chosen or told(chosen[-1]) < wanted):
        best = max(paths, key=told)
        chosen.append(best)
        del paths[best]
    return chosen


def _written(heads: Sequence[str], kept: Sequence[Parts], digits: int) -> list[str]:
    """Returns agents as texts such as `mcts iterations 100, depth 3`."""
    keys = {path: _word(path) for parts in kept for path in parts}
    times = Counter(keys.values())
    keys = {path: word if times[word] == 1 else path for path, word in keys.items()}
    texts = [", ".join(f"{keys[path]} {_rounded(text, digits)}".strip() for path, text in p.items()) for p in kept]
    return [f"{head} {text}" if text else head for head, text in zip(heads, texts, strict=True)]


def _word(path: str) -> str:
    """Returns the word of a parameter: `merge` of evaluator.merge, `Skill` of the option Skill Level."""
    return path.rpartition(".")[2].removeprefix("UCI_").partition(" ")[0]


def _rounded(text: str, digits: int) -> str:
    return f"{float(text):.{digits}g}" if digits and _LONG.fullmatch(text) else text


@functools.lru_cache(maxsize=4096)
def _split(name: str) -> tuple[str, Parts]:
    """Returns the kind of an agent, without folders and its file, and its parameters; of others the whole name."""
    try:
        spec = parse(name)
    except UserError:
        return name, {}
    parts = dict(_parts(spec))
    program, *words = (re.sub(r"^.*/", "", word) for word in parts.pop("command", "").split() or [""])
    arguments = {"": " ".join(words)} if words else {}
    return program or re.sub(r"^.*[/:](?=\w)", "", spec.name), arguments | parts


def _parts(spec: Spec, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields the parameters of an agent, of its parts, and of the program that it is."""
    for key, value in spec.parameters.items():
        if isinstance(value, Spec):
            yield path + key, value.name
            yield from _parts(value, f"{path}{key}.")
        elif key == "options":
            yield from ((name.strip(), text) for name, _, text in (one.partition("=") for one in value.split(";")))
        else:
            yield path + key, value


def _lettered(heads: Sequence[str], parts: Sequence[Parts]) -> list[str]:
    """Returns the names with a letter for the parameters, if several agents are of the same kind."""
    places: dict[str, list[Parts]] = defaultdict(list)
    names = []
    for head, own in zip(heads, parts, strict=True):
        if own not in places[head]:
            places[head].append(own)
        names.append((head, places[head].index(own)))
    return [f"{head} {_letter(place)}" if len(places[head]) > 1 else head for head, place in names]


def _letter(place: int) -> str:
    """Returns a, b, ..., z, aa, ab, ..."""
    before, last = divmod(place, len(ascii_lowercase))
    return (_letter(before - 1) if before else "") + ascii_lowercase[last]
