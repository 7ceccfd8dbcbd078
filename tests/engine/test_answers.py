"""Which words answer which question."""

from __future__ import annotations

import pytest

from poolboard.engine.answers import MOST_CHARACTERS, WrongShape, fit

CHOICES = ("Staging", "production", "Production", "3")


@pytest.mark.parametrize("text", ["yes", "Y", " true ", "approve", "1"])
def test_yes_is_said_in_many_ways(text: str) -> None:
    assert fit("confirm", (), text) is True


@pytest.mark.parametrize("text", ["no", "N", "FALSE", "reject", "0"])
def test_so_is_no(text: str) -> None:
    assert fit("confirm", (), text) is False


@pytest.mark.parametrize(
    ("text", "choice"),
    [("Staging", "Staging"), ("staging", "Staging"), (" production", "production"), ("1", "Staging"), ("3", "3")],
)
def test_a_choice_is_named_or_numbered(text: str, choice: str) -> None:
    assert fit("select", CHOICES, text) == choice


@pytest.mark.parametrize("text", ["", "PRODUCTION", "5", "0", "²", "stag"])
def test_what_is_no_choice_or_could_be_two_is_refused_with_the_choices(text: str) -> None:
    """P5: an answer of the wrong shape explains what fits and never picks a default."""
    with pytest.raises(WrongShape, match="1 Staging, 2 production, 3 Production, 4 3"):
        fit("select", CHOICES, text)


@pytest.mark.parametrize("text", ["", "perhaps", "yes no", "2"])
def test_what_is_neither_yes_nor_no_is_refused(text: str) -> None:
    with pytest.raises(WrongShape, match="neither yes nor no"):
        fit("confirm", (), text)


def test_text_is_taken_as_it_is_up_to_a_limit() -> None:
    assert fit("text", (), " any\nthing ") == " any\nthing "
    with pytest.raises(WrongShape, match="at most"):
        fit("text", (), "x" * (MOST_CHARACTERS + 1))
