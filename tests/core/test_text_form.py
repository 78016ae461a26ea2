"""The text form: what is printed is read back, and each mistake is named by one sentence with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnier.core.errors import UserError
from turnier.core.text_form import MAX_DEPTH, MAX_LENGTH, Spec, parse

WORDS = st.text(st.characters(exclude_characters='(),="', exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=6)
TEXTS = WORDS | st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), max_size=6)
SPECS = st.recursive(
    st.builds(Spec, WORDS),
    lambda inner: st.builds(Spec, WORDS, st.dictionaries(WORDS, TEXTS | inner, max_size=4)),
    max_leaves=8,
)


@given(SPECS)
def test_what_is_printed_is_read_back(spec: Spec) -> None:
    assert parse(str(spec)) == spec


@given(SPECS)
def test_spaces_around_marks_say_nothing(spec: Spec) -> None:
    text = str(spec)
    if '"' not in text:
        for mark in "(),=":
            text = text.replace(mark, f" {mark}\n")
    assert parse(f"\t{text} ") == spec


@given(st.text(st.sampled_from('ab1(),=" ')))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    sentence = ""
    try:
        assert parse(str(parse(text))) == parse(text)
    except UserError as error:
        sentence = str(error)
    assert not sentence or (" at character " in sentence and repr(text) in sentence)


def test_a_spec_is_a_name_with_words_and_specs() -> None:
    assert parse("mc") == parse("mc()") == Spec("mc")
    assert parse('a(file="x, (y).npz",n=3)') == Spec("a", {"file": "x, (y).npz", "n": "3"})
    assert parse("a(inner=b(n=1),other=b())") == Spec("a", {"inner": Spec("b", {"n": "1"}), "other": Spec("b")})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "expected a name, got the end at character 1 of ''"),
        ("(size=3)", "expected a name, got ( at character 1"),
        ('"2048"', 'expected a name, got "2048" at character 1'),
        ("2048(size=3", "expected a comma or a closing bracket, got the end at character 12"),
        ("2048(size=3 4)", "expected a comma or a closing bracket, got 4 at character 13"),
        ("2048(", "expected a parameter's name, got the end at character 6"),
        ("2048(size=3,)", "expected a parameter's name, got ) at character 13"),
        ("2048(,size=3)", "expected a parameter's name, got , at character 6"),
        ("2048(size)", "expected an equals sign after size, got ) at character 10"),
        ("2048(size=)", "expected a value, got ) at character 11"),
        ("2048(size=3,size=4)", "a parameter must be given only once, got size again at character 13"),
        ("2048(size=3))", "nothing may follow the closing bracket, got ) at character 13"),
        ("2048 2048", "nothing may follow the closing bracket, got 2048 at character 6"),
        ('a(file="x)', "a closing quote must follow at character 8"),
        ('a(")"=1)', 'expected a parameter\'s name, got ")" at character 3'),
    ],
)
def test_each_mistake_is_named_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).endswith(f"of {text!r}; write NAME or NAME(PARAMETER=VALUE, ...)")


def test_nesting_has_a_limit() -> None:
    def nested(levels: int) -> str:
        return "a(x=" * levels + "b()" + ")" * levels

    assert str(parse(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    for levels in (MAX_DEPTH + 1, 3_000):
        with pytest.raises(UserError, match=f"a text form may nest at most {MAX_DEPTH} levels deep, got more"):
            parse(nested(levels))


def test_length_has_a_limit() -> None:
    assert parse("a" * MAX_LENGTH).name == "a" * MAX_LENGTH
    with pytest.raises(UserError, match=f"at most {MAX_LENGTH} characters long, got {MAX_LENGTH + 1}"):
        parse("a" * (MAX_LENGTH + 1))
