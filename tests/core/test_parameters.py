"""Declared parameters: text becomes values of the declared type and range, and mistakes become one sentence."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnier.core.errors import UserError
from turnier.core.parameters import Declared, Parameter, Registry, parameter, parameters_of
from turnier.core.text_form import Spec, parse
from turnier.games.registry import GAMES, make_game
from turnier.games.tictactoe import TicTacToe
from turnier.games.twenty48.game import Twenty48


@dataclass(frozen=True)
class Lamp(Declared):
    """A lamp."""

    name: ClassVar[str] = "lamp"
    kind: ClassVar[str] = "test thing"
    watts: float = parameter(40.0, "power", low=0.0, high=100.0)
    pieces: int = parameter(1, "how many, without a range")
    weight: float = parameter(0.5, "kilograms, without a range")
    lit: bool = parameter(False, "whether it is on")
    colour: str = parameter("warm", "of the light", choices=("warm", "cold"))
    label: str = parameter("", "any text")


@dataclass(frozen=True)
class Room(Declared):
    """A room with a lamp in it."""

    name: ClassVar[str] = "room"
    kind: ClassVar[str] = "test thing"
    lamp: Lamp = parameter(Lamp(), "what lights it")
    seats: int = parameter(2, "chairs", low=0, high=4)

    def check(self) -> None:
        if self.seats == 3:
            raise UserError("room: seats must be even or one, got 3; take 4.")


@dataclass(frozen=True)
class Clock(Declared):
    """A clock, whose default hands have changed, on a wall, which has always had the default clock."""

    name: ClassVar[str] = "clock"
    kind: ClassVar[str] = "test thing"
    hands: int = parameter(3, "how many", low=1, high=3, was=2)


@dataclass(frozen=True)
class Wall(Declared):
    """A wall."""

    name: ClassVar[str] = "wall"
    kind: ClassVar[str] = "test thing"
    clock: Clock = parameter(Clock(), "on it")


NAMES = ("lamp", "room", "clock", "wall")
THINGS: Registry[Declared] = Registry("test thing", {name: f"{__name__}:{name.capitalize()}" for name in NAMES})
LAMPS = st.builds(
    Lamp,
    watts=st.floats(0, 100),
    pieces=st.integers(),
    weight=st.floats(allow_nan=False, allow_infinity=False),
    lit=st.booleans(),
    colour=st.sampled_from(["warm", "cold"]),
    label=st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), max_size=5),
)


@given(st.builds(Room, lamp=LAMPS, seats=st.sampled_from([0, 1, 2, 4])) | LAMPS)
def test_text_forms_make_the_same_thing_again(thing: Declared) -> None:
    assert THINGS.make(str(thing)) == thing
    assert THINGS.make(thing.full_text()) == thing
    assert THINGS.make(thing.spec()) == thing
    assert THINGS.make(thing) is thing


def test_the_short_form_leaves_defaults_out_and_the_full_form_does_not() -> None:
    assert str(Room()) == "room"
    assert str(Room(lamp=Lamp(watts=5.0))) == "room(lamp=lamp(watts=5.0))"
    assert (
        Room().full_text() == 'room(lamp=lamp(watts=40.0,pieces=1,weight=0.5,lit=false,colour=warm,label=""),seats=2)'
    )
    assert str(Twenty48()) == "2048" and Twenty48().full_text() == "2048(size=4)"


def test_words_become_the_declared_types() -> None:
    lamp = THINGS.make("lamp(watts=7,pieces=3,lit=true,colour=cold,label=12)")
    assert lamp == Lamp(7.0, 3, 0.5, True, "cold", "12")
    assert [type(value) for value in vars(lamp).values()] == [float, int, float, bool, str, str]


def test_a_nested_name_may_stand_without_brackets() -> None:
    assert THINGS.make("room(lamp=lamp)") == Room()
    assert THINGS.make("room(lamp=lamp(lit=true))") == Room(lamp=Lamp(lit=True))


def test_replace_checks_again() -> None:
    assert Room().replace(seats=4) == Room(seats=4)
    with pytest.raises(UserError, match="seats must be even or one"):
        Room().replace(seats=3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("LAMP", "There is no test thing named 'LAMP'; did you mean lamp?"),
        ("lammp", "There is no test thing named 'lammp'; did you mean lamp?"),
        ("xyz", "There is no test thing named 'xyz'; there are: clock, lamp, room, wall."),
        ("lamp(wats=3)", "There is no parameter of lamp named 'wats'; did you mean watts?"),
        ("lamp(qqqq=3)", "there are: colour, label, lit, pieces, watts, weight."),
        ("lamp(watts=100.5)", "lamp: watts must be from 0 to 100, got 100.5."),
        ("lamp(watts=-1)", "lamp: watts must be from 0 to 100, got -1.0."),
        ("lamp(watts=nan)", "lamp: watts must be from 0 to 100, got nan."),
        ("lamp(watts=inf)", "lamp: watts must be from 0 to 100, got inf."),
        ("lamp(watts=much)", "lamp: watts must be a number, got much."),
        ("lamp(pieces=1.5)", "lamp: pieces must be a whole number, got 1.5."),
        ("lamp(lit=yes)", "lamp: lit must be true or false, got yes."),
        ("lamp(colour=hot)", "lamp: colour must be one of warm, cold, got hot."),
        ("lamp(watts=lamp())", "lamp: watts must be a single value, got lamp."),
        ("room(lamp=lampe)", "There is no test thing named 'lampe'; did you mean lamp?"),
        ("room(lamp=lamp(lit=on))", "lamp: lit must be true or false, got on."),
        ("room(seats=3)", "room: seats must be even or one, got 3; take 4."),
    ],
)
def test_each_mistake_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        THINGS.make(text)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("204", "There is no game named '204'; did you mean 2048?"),
        ("tictactoo", "There is no game named 'tictactoo'; did you mean tictactoe?"),
        ("2048(sise=3)", "There is no parameter of 2048 named 'sise'; did you mean size?"),
        ("2048(size=5)", "2048: size must be from 2 to 4, got 5."),
        ("2048(size=1)", "2048: size must be from 2 to 4, got 1."),
        pytest.param(
            "2048(size=" + "9" * 400 + ")",
            "2048: size must be from 2 to 4, got 999",
            id="400 digits",
        ),
        ("2048(size=3.0)", "2048: size must be a whole number, got 3.0."),
        ("2048(size=2048(size=3))", "2048: size must be a single value, got 2048(size=3)."),
        ("tictactoe(size=3)", "tictactoe has no parameters, got size; write just tictactoe."),
        ("2048(size=3", "expected a comma or a closing bracket"),
    ],
)
def test_each_mistake_with_a_game_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        make_game(text)
    assert sentence in str(caught.value)


def test_games_are_made_by_name() -> None:
    assert make_game(" 2048 ( size = 3 ) ") == Twenty48(size=3)
    assert make_game(Spec("tictactoe")) == TicTacToe()
    assert GAMES.names() == sorted(GAMES.names())
    assert all(GAMES.load(name).name == name and GAMES.load(name).kind == "game" for name in GAMES.names())


def test_every_game_parameter_is_declared_with_a_meaning_and_a_default_inside_its_range() -> None:
    for name in GAMES.names():
        for field, declared in parameters_of(GAMES.load(name)):
            assert declared.help, f"{name}: {field.name} must say what it means"
            if declared.low is not None and declared.high is not None:
                assert declared.low <= field.default <= declared.high
            if declared.choices:
                assert field.default in declared.choices


def test_ranges_are_shown_to_people() -> None:
    shown = [declared.range_text() for _, declared in parameters_of(Lamp)]
    assert shown == ["from 0 to 100", "", "", "", "warm | cold", ""]
    assert Parameter("x", low=1e-6, high=0.5, log=True).range_text() == "from 0.000001 to 0.5"
    assert Parameter("x", low=0, high=2**53).range_text() == "from 0 to 9,007,199,254,740,992"
    assert Parameter("x", low=0, high=9).search_text() == ""
    assert Parameter("x", low=0, high=100, search=(0.01, 10), log=True).search_text() == "from 0.01 to 10, log"


@pytest.mark.parametrize("text", ["lamp(weight=nan)", "lamp(weight=-inf)"])
def test_numbers_without_a_range_must_be_finite(text: str) -> None:
    with pytest.raises(UserError, match="lamp: weight must be"):
        THINGS.make(text)


@pytest.mark.parametrize("wrong", [2.5, "3", True, None])
def test_values_given_in_python_have_the_declared_type(wrong: object) -> None:
    with pytest.raises(UserError, match="2048: size must be a whole number"):
        Twenty48(size=wrong)  # type: ignore[arg-type]


def test_a_whole_number_for_a_float_becomes_one() -> None:
    assert str(Lamp(watts=7)) == str(Lamp(watts=7.0)) == "lamp(watts=7.0)"
    assert type(Lamp(watts=7).watts) is float


def test_a_nested_value_given_in_python_is_of_its_kind() -> None:
    for wrong in ("lamp", None, Twenty48()):
        with pytest.raises(UserError, match=r"room: lamp must be an? test thing, got "):
            Room(lamp=wrong)  # type: ignore[arg-type]


def test_parse_is_what_make_reads() -> None:
    assert THINGS.make(parse("lamp(lit=true)")) == Lamp(lit=True)


TEXT_BOUNDS: Any = {"low": "0", "high": "1"}


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (5, "the field x of Own must be made by parameter(...), got none; write x: TYPE = parameter(DEFAULT, MEANING)"),
        (None, "the field x of Own must be made by parameter(...), got none;"),
        (parameter(None, "x"), "the default of the parameter x of Own must be true or false, a whole number, a number"),
        (parameter((1, 2), "x"), "a word, an agent or the like, got (1, 2); change it."),
        (parameter(0.5, "x", **TEXT_BOUNDS), "high= and search= of the parameter x of Own must be numbers, got '0'"),
        (parameter(1, "x", choices=[1, 2]), "choices= of the parameter x of Own must be words, got 1; change it."),
        (parameter('say "hi"', "x"), """own: x must have no ", which encloses words in text forms, got 'say "hi"'."""),
    ],
)
def test_a_wrong_declaration_is_one_sentence(declared: Any, sentence: str) -> None:
    own = make_dataclass("Own", [("x", Any, declared)], bases=(Declared,), namespace={"name": "own"}, frozen=True)
    with pytest.raises(UserError) as caught:
        own()
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_field_without_a_default_is_refused_before_the_class_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_dataclass("Own", [("x", int)], bases=(Declared,), namespace={"name": "own"}, frozen=True)
    monkeypatch.setattr(THINGS, "load", lambda name: own)
    with pytest.raises(UserError, match="the field x of Own must be made by parameter"):
        THINGS.make("own")


def test_values_have_no_quotation_mark() -> None:
    with pytest.raises(UserError, match='lamp: label must have no "'):
        Lamp(label='say "hi"')


@pytest.mark.parametrize(
    ("text", "today", "stored"),
    [
        ("clock", "clock(hands=3)", "clock(hands=2)"),
        ("wall", "wall(clock=clock(hands=3))", "wall(clock=clock(hands=2))"),
        ("wall(clock=clock)", "wall(clock=clock(hands=3))", "wall(clock=clock(hands=2))"),
        ("clock( hands = 1 )", "clock( hands = 1 )", "clock( hands = 1 )"),
        (Wall().full_text(), Wall().full_text(), Wall().full_text()),
        ("room(lamp=lamp(watts=5))", "room(lamp=lamp(watts=5))", "room(lamp=lamp(watts=5))"),
        ("bot.py:Clock", "bot.py:Clock", "bot.py:Clock"),
    ],
)
def test_a_stored_text_keeps_its_meaning_when_a_default_changes(text: str, today: str, stored: str) -> None:
    """What is typed today has today's default, what earlier releases stored has the first one."""
    assert THINGS.pinned(text) == today and THINGS.pinned(text, stored=True) == stored
    assert THINGS.pinned(today, stored=True) == today, "once pinned, it stays"
    if not text.startswith("bot.py"):
        assert THINGS.make(today) == THINGS.make(text)


def test_the_first_default_is_one() -> None:
    for default, more in ((1, {"was": "one"}), (1, {"was": 2, "later": True})):
        made = make_dataclass(
            "Made", [("size", int, parameter(default, "of it", **more))], bases=(Declared,), frozen=True
        )
        with pytest.raises(UserError, match="was= of the parameter size of Made must be a default"):
            parameters_of(made)
