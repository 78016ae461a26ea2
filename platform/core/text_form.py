"""The text form of games, agents and evaluators: `mctse(iterations=3500, evaluator=heuristics2048(merge=0.8))`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .errors import UserError

_TOKEN = re.compile(r'\s*(?:(?P<word>[^\s(),="]+)|(?P<quoted>"[^"]*")|(?P<mark>[(),=]))')
MAX_LENGTH = 20_000
MAX_DEPTH = 20


@dataclass(frozen=True)
class Spec:
    """A name with parameters; a value is a word as typed, or a Spec if it has brackets."""

    name: str
    parameters: dict[str, str | Spec] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({','.join(f'{key}={_quote(value)}' for key, value in self.parameters.items())})"


def _quote(value: str | Spec) -> str:
    if isinstance(value, Spec):
        return str(value) if value.parameters else f"{value.name}()"
    return value if re.fullmatch(r'[^\s(),="]+', value) else f'"{value}"'


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.error(position, "a closing quote must follow")
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.next = 0

    def error(self, position: int, what: str) -> UserError:
        return UserError(
            f"{what} at character {position + 1} of {self.text!r}; write NAME or NAME(PARAMETER=VALUE, ...)"
        )

    def peek(self) -> tuple[str, str, int]:
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "the end", len(self.text))

    def take(self, kind: str, wanted: str, what: str) -> str:
        token_kind, token, position = self.peek()
        if token_kind != kind or (wanted and token != wanted):
            raise self.error(position, f"expected {what}, got {token}")
        self.next += 1
        return token

    def spec(self, depth: int = 0) -> Spec:
        if depth > MAX_DEPTH:
            raise UserError(f"a text form may nest at most {MAX_DEPTH} levels deep, got more; write it flatter")
        return self.rest(self.take("word", "", "a name"), depth)

    def rest(self, name: str, depth: int) -> Spec:
        """Reads the brackets that may follow a name."""
        parameters: dict[str, str | Spec] = {}
        if self.peek()[1] != "(" or self.peek()[0] != "mark":
            return Spec(name, parameters)
        self.next += 1
        while self.peek()[1] != ")":
            if parameters:
                self.take("mark", ",", "a comma or a closing bracket")
            key_position = self.peek()[2]
            key = self.take("word", "", "a parameter's name")
            if key in parameters:
                raise self.error(key_position, f"a parameter must be given only once, got {key} again")
            self.take("mark", "=", f"an equals sign after {key}")
            parameters[key] = self.value(depth)
        self.next += 1
        return Spec(name, parameters)

    def value(self, depth: int) -> str | Spec:
        kind, token, _ = self.peek()
        if kind == "quoted":
            self.next += 1
            return token[1:-1]
        if kind == "word" and self.next + 1 < len(self.tokens) and self.tokens[self.next + 1][1] == "(":
            return self.spec(depth + 1)
        return self.take("word", "", "a value")


def parse(text: str) -> Spec:
    """Returns the Spec of a text; raises UserError with the place of the first mistake."""
    if len(text) > MAX_LENGTH:
        raise UserError(f"a text form must be at most {MAX_LENGTH} characters long, got {len(text)}")
    reader = _Reader(text)
    spec = reader.spec()
    kind, token, position = reader.peek()
    if kind != "end":
        raise reader.error(position, f"nothing may follow the closing bracket, got {token}")
    return spec
