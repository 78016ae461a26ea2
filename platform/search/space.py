"""Search spaces from agents' own parameter declarations: from vectors in the unit cube to agents and back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import UserError, nearest, unknown
from ..core.number_text import number
from ..core.parameters import Declared, Parameter, format_value, parameters_of
from .dimensions.dimension import OR, Dimension
from .dimensions.options import typed_option
from .dimensions.tree import Value, owner_of, part, with_values

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from ..agents.agent import Agent

ALL = "*"  # every parameter that can be searched, but what an agent may spend
STEPS_BACK = 8  # on the line from refused values to the start
Legal = Callable[["Agent"], object]  # raises UserError for an agent that must not play


class Accepted(NamedTuple):
    """What an agent accepts of a vector."""

    values: dict[str, Value]
    agent: Agent
    refused: str  # why other values replace those of the vector, or ""


@dataclass(frozen=True)
class Space:
    """The searched parameters of an agent, in order."""

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, agent: Agent, paths: Sequence[str], beside: Sequence[str] = ()) -> Space:
        """Returns the space of the named parameters.

        A path names a parameter (`iterations`), a nested one (`evaluator.merge`), all of a nested agent or evaluator
        (`evaluator.*`), or all of the agent but what it may spend (`*`); texts and files are left out. For a single
        parameter it may narrow the range (`rollout_depth=0..50`), set the scale (`exploration=0.01..10:log`) or steps
        (`iterations=16..64:16`), or list the values (`final=max|robust`), also evaluators
        (`evaluator=rows2048|heuristics2048`). Without limits all legal values are searched; `planned` adds limits to
        new studies. Raises UserError, with the closest name, for a path that does not exist.

        Args:
            agent: the start.
            paths: what is searched.
            beside: other paths of the same search, of which these may name parts.
        """
        chosen = _parts(agent, [*paths, *beside])
        known = dimensions_of(agent, chosen)
        searched: list[Dimension] = []
        for text in paths:
            path, _, limits = text.partition("=")
            if not known:
                raise UserError(f"{agent.name} has no parameters to search; choose another agent.")
            if path == ALL or path.endswith("." + ALL):
                named = [d for d in known.values() if d.path.startswith(path[: -len(ALL)]) and d.has_values]
                spent = _spent(agent) if path == ALL else ()
                named = [d for d in named if d.path not in spent]
            elif path in known:
                named = [known[path]]
            else:
                named = [typed_option(path, limits)] if owner_of(agent, path) else []
            if not named:
                raise _unknown(agent, path, known)
            if named[0].part and not limits:
                _ = named[0].range  # which it has not
            if limits and path not in chosen:
                named = [dimension.within(limits, dimension.start_of(agent)) for dimension in named]
            searched += [d for d in named if d not in searched]
        return cls(tuple(searched))

    @classmethod
    def cube(cls, size: int) -> Space:
        """Returns a space of numbers from 0 to 1, x1, x2 and so on, which are their own coordinates."""
        declared = Parameter("a number", low=0.0, high=1.0)
        return cls(tuple(Dimension(f"x{number + 1}", float, declared) for number in range(size)))

    @classmethod
    def planned(cls, agent: Agent, paths: Sequence[str], even: bool = False) -> tuple[str, ...]:
        """Returns paths that fix a new study's search against later declarations: search ranges become limits.

        If `even`, whole numbers from 0 on are not searched by factors, as in earlier versions.
        """
        texts: list[str] = []
        for path in paths:
            named = cls.of(agent, [path], paths).dimensions
            planned = [d.planned(d.start_of(agent), even or path.endswith(":linear")) for d in named]
            same = planned == list(named) and not any(dimension.part for dimension in named)
            texts += [path] if same else [dimension.text for dimension in planned]
        return tuple(texts)

    @classmethod
    def once(cls, agent: Agent, paths: Sequence[str]) -> tuple[str, ...]:
        """Returns paths without those that others make more exact: a single parameter beats `.*`, a range beats none.

        New studies are planned from them; stored paths of earlier versions may name a parameter twice.
        """
        alone = {path.partition("=")[0] for path in paths}
        ranged = {path.partition("=")[0] for path in paths if "=" in path}
        texts: list[str] = []
        for path in paths:
            named = cls.of(agent, [path], paths).dimensions
            better = alone if ".*" in path else () if "=" in path else ranged
            left = [d for d in named if d.path not in better]
            texts += [path] if len(left) == len(named) else [d.text for d in left]
        return tuple(texts)

    def require_clear(self) -> None:
        """Raises UserError if a new study must refuse it: two ranges of a parameter, or fractions as ends."""
        seen: dict[str, Dimension] = {}
        for d in self.dimensions:
            if seen.setdefault(d.path, d) != d:
                raise UserError(
                    f"a parameter must have one range, got {seen[d.path].text} and {d.text}; leave one of them out."
                )
            if d.limits is not None and d.type is int and (d.limits.low % 1 or d.limits.high % 1):
                raise UserError(f"a range of {d.path} must end at whole numbers, got {d.limits}; round them.")

    @property
    def size(self) -> int:
        return len(self.dimensions)

    def decode(self, vector: Sequence[float]) -> dict[str, Value]:
        """Returns the values in use, without parameters that the other values leave unused."""
        values = {d.path: d.decode(float(x)) for d, x in zip(self.dimensions, vector, strict=True)}
        return self._in_use(values)

    def _in_use(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {d.path: values[d.path] for d in self.dimensions if d.path in values and d.matters(values)}

    def encode(self, agent: Agent) -> list[float]:
        """Returns the vector of an agent's own values."""
        return [d.encode(d.start_of(agent)) for d in self.dimensions]

    def vector_of(self, start: Agent, agent: Agent) -> list[float]:
        """Returns the vector of an agent that the space contains; raises UserError if it does not."""
        values, vector = self.of_agent(agent), self.encode(start)
        for place, d in enumerate(self.dimensions):
            if d.path in values:
                with contextlib.suppress(ValueError):
                    vector[place] = d.encode(values[d.path])
        if not all(0 <= x <= 1 for x in vector) or self.apply(start, self.decode(vector)) != agent:
            raise UserError(
                f"a known agent must be the start with other values of what is searched, within ranges, got {agent};"
                f" start from {start} and keep to {', '.join(d.shown for d in self.dimensions)}."
            )
        return vector

    def fitted(self, start: Agent, values: Mapping[str, Value]) -> Agent:
        """Returns the start with what fits of values from another search: numbers are moved into their ranges."""
        vector = self.encode(start)
        for place, d in enumerate(self.dimensions):
            if d.path in values:
                with contextlib.suppress(ValueError, TypeError):
                    vector[place] = min(max(d.encode(values[d.path]), 0.0), 1.0)
        return self.accepted(start, vector, lambda _: None).agent

    def of_agent(self, agent: Agent) -> dict[str, Value]:
        """Returns the values that an agent, perhaps of another kind than the space's, has and uses."""
        known = {path: d.start_of(agent) for path, d in dimensions_of(agent, {}).items()}
        known |= {d.path: d.start_of(agent) for d in self.dimensions if owner_of(agent, d.path)}
        known |= {d.path: d.nearest_part(str(known[d.path])) for d in self.dimensions if d.part and d.path in known}
        return {d.path: known[d.path] for d in self.dimensions if d.path in known and d.matters(known)}

    def widened(self, values: Mapping[str, Value]) -> tuple[str, tuple[str, ...]]:
        """Returns the values at ends of ranges that could be wider, as text, and the space's paths with wider ranges.

        The text is empty if there are none.
        """
        last = {d.path: d for d in self.dimensions}  # of a parameter named twice, the range counts
        wider = {path: d.wider(values[path]) if path in values else "" for path, d in last.items()}
        found = [d for path, d in last.items() if wider[path]]
        places = " and ".join(f"{d.path} {number(float(values[d.path]))} of {d.range}" for d in found)
        return places, tuple(wider[path] or d.text for path, d in last.items())

    def apply(self, agent: Agent, values: Mapping[str, Value]) -> Agent:
        """Returns the agent with the values in place."""
        changed: Agent = with_values(agent, self._in_use(values))
        return changed

    def accepted(self, start: Agent, vector: Sequence[float], legal: Legal) -> Accepted:
        """Returns the values and the agent of a vector, or those that replace what the agent or `legal` refuses.

        They are the first accepted ones on the line from the vector to the start, which is legal: first with the
        choices of the vector, then with those of the start.
        """
        refused, home = "", self.encode(start)
        for kept in (True, False):
            for back in range(STEPS_BACK + 1):
                share = back / STEPS_BACK
                moved = [
                    (x if kept else own) if d.is_choice else x + share * (own - x)
                    for d, x, own in zip(self.dimensions, vector, home, strict=True)
                ]
                values = self.decode(moved if back or not kept else vector)
                try:
                    legal(agent := self.apply(start, values))
                except UserError as error:
                    refused = refused or str(error)
                else:
                    return Accepted(values, agent, refused)
        return Accepted(self.decode(home), start, refused)

    def described(self, start: Agent) -> str:
        """Returns the searched ranges and the start in words: rollout_depth in 0..50 from 5, final among ..."""
        return ", ".join(f"{d.shown} from {format_value(d.start_of(start))}" for d in self.dimensions)

    def distributions(self, values: Mapping[str, Value] | None = None) -> dict[str, BaseDistribution]:
        """Returns all dimensions in Optuna's form, or those of some values."""
        if values is None:
            return {d.path: d.distribution() for d in self.dimensions}
        return {d.path: d.distribution(values[d.path]) for d in self.dimensions if d.path in values}


def dimensions_of(
    declared: Declared, parts: Mapping[str, Sequence[str]], prefix: str = "", under: tuple[Any, ...] = ()
) -> dict[str, Dimension]:
    """Returns the dimensions of an object and its parts by their paths.

    A part that is searched itself, as its alternatives in `parts` (texts by path) say, has the parameters of all of
    them. One that two of them declare in the same way is shared; otherwise it is that of the first.
    """
    found: dict[str, Dimension] = {}
    for field, info in parameters_of(type(declared)):
        value, path = getattr(declared, field.name), prefix + field.name
        if not isinstance(value, Declared):
            found[path] = Dimension(path, type(field.default), info, under=under, otherwise=value if under else None)
            continue
        among = tuple(parts.get(path, ()))
        found[path] = Dimension(path, str, info, among=among, part=value.kind, under=under)
        for text in among or (str(value),):
            one = value if text == str(value) else part(value.kind, text)
            inner = dimensions_of(one, parts, f"{path}.", (*under, (path, (text,))) if among else under)
            for name, own in inner.items():
                if name not in found:
                    found[name] = own
                elif (found[name].type, found[name].declared) == (own.type, own.declared):
                    under_both = dict(found[name].under)
                    under_both[path] = (*under_both[path], text)
                    found[name] = replace(found[name], under=tuple(under_both.items()))
    return found


def _parts(agent: Agent, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns the alternatives of the parts that are searched themselves, by their paths, the start's among them."""
    known, found = dimensions_of(agent, {}), dict[str, tuple[str, ...]]()
    for text in paths:
        path, _, limits = text.partition("=")
        if limits and path in known and known[path].part:
            listed = known[path].within(limits, known[path].start_of(agent)).among
            start = str(known[path].start_of(agent))
            found[path] = (start, *(str(value) for value in listed if value != start))
    return found


def _spent(agent: Agent) -> set[str]:
    """Returns what an agent may spend on a move, which more of always makes stronger."""
    return {"threads"}.union(*agent.budgets.values())


def _unknown(agent: Agent, path: str, known: Mapping[str, Dimension]) -> UserError:
    """Returns the error for a path that names nothing that can be searched."""
    if path.endswith(ALL) and any(name.startswith(path[: -len(ALL)]) for name in known):
        return UserError(f"{path} must name parameters that have ranges or values, got none in {agent.name}.")
    if nearest(path, known) or "=" in path:
        return unknown(f"parameter to search in {agent.name}", path, known)
    hint = f"there are: {', '.join(sorted(known))}; the values of a list are separated by {OR}, such as NAME=a{OR}b."
    return UserError(f"There is no parameter to search in {agent.name} named {path!r}; {hint}")
