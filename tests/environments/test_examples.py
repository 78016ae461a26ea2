"""The examples of docs/environments.md run, one after the other as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs/environments.md"


def test_examples_run() -> None:
    names: dict[str, Any] = {}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) >= 4
    for example in examples:
        exec(example, names)
    assert names["over"] and names["episodes"] > 500 and names["seats"].agents == []
