"""Checks that Template keeps every law: python -m pytest test_MODULE.py"""

from __future__ import annotations

import pytest

from turnier.commands.own.templates.agent import Template
from turnier.contract.suites import Case, cases_of


@pytest.mark.parametrize("case", cases_of(Template()), ids=str)
def test_law(case: Case) -> None:
    assert not (broken := case.check()), broken
