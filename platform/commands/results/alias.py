"""`turnier runs alias`: names that people give agents of a store."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...core.errors import UserError, nearest
from ...core.terminal.console import Console
from ...core.terminal.visible import say, visible_line
from ..completion import proposing
from ..options import DEFAULT_URL, JsonOption, StoreOption

_HOW = "type: turnier runs alias NAME AGENT"


def alias(
    name: Annotated[str, typer.Argument(help="the name; without one, all names are listed", show_default=False)] = "",
    agent: Annotated[
        str | None,
        typer.Argument(
            help="an agent that has played in the store; an empty text takes the name away, no text shows whose it is",
            autocompletion=proposing("agent"),
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Give an agent of the store a short name.

    Tables, pages, charts and reports then show the agent by this name; commands, ids and exported games keep its full
    text. The name goes with the runs in which the agent has played, into archives, too.

    \b
    Examples:
      turnier runs alias "Code Monkey" random
      turnier runs alias                        # all names
    """
    from ...agents.registry import short_text
    from ...results.store.store import Store

    name = " ".join(name.split())
    with Store.open(store, read_only=agent is None) as results:
        texts = {each: text for text, each in results.annotations.names.items()}
        if agent is None:
            _list({name: _agent_named(name, texts)} if name else dict(sorted(texts.items())), as_json)
            return
        if not agent:
            results.annotations.name_agent(_agent_named(name, texts), "")
            say(visible_line(f"No agent has the name {name} now."))
            return
        found = _agent_of(agent, results.annotations.agents(), texts)
        runs = results.annotations.name_agent(found, _checked(name, found, texts))
    say(visible_line(f"{name}: {short_text(found)}, in {runs:,} {'run' if runs == 1 else 'runs'}"))


def _list(names: dict[str, str], as_json: bool) -> None:
    from ...agents.registry import short_text
    from ...dashboards.sections import Facts
    from ...dashboards.terminal import print_sections

    if as_json:
        print(json.dumps(names, indent=2))
    elif names:
        print_sections(Console(), [Facts({name: short_text(text) for name, text in names.items()})], whole=True)
    else:
        say(f"No agent has a name yet; {_HOW}")


def _agent_named(name: str, texts: dict[str, str]) -> str:
    if name not in texts:
        raise UserError(f"No agent has the name {name!r}; {nearest(name, texts) or _HOW}")
    return texts[name]


def _agent_of(text: str, agents: list[str], texts: dict[str, str]) -> str:
    """Returns the full text of the agent of a store that a text means: its text, as typed or as shown, or its name."""
    from ...agents.registry import AGENTS, short_text
    from ...dashboards.agent_names import shortened

    if text in texts:
        return texts[text]
    try:
        meant = {text, AGENTS.make(text).full_text()}
    except UserError:  # an agent that cannot play here, in the words of a table
        meant = {text}
    found = [one for one in agents if one in meant] or [one for one in agents if shortened(short_text(one)) == text]
    if len(found) > 1:
        raise UserError(f"a text must mean one agent of the store, got {text!r}, which means {len(found)}; type more.")
    if not found:
        hint = nearest(text, [shortened(short_text(one)) for one in agents]) or "copy its text from a table."
        raise UserError(f"an agent must have played in the store to get a name, but {text!r} has not; {hint}")
    return found[0]


def _checked(name: str, agent: str, texts: dict[str, str]) -> str:
    """Returns the name; raises UserError if it is not fit for an agent."""
    from ...agents.registry import AGENTS, short_text
    from ...results.store.annotations import A_NAME, LONGEST_NAME

    if not A_NAME.fullmatch(name):
        raise UserError(
            f"a name must have 1 to {LONGEST_NAME} letters, digits, spaces and . + # & ' - _, got {name[:80]!r}; choose"
            " another."
        )
    if name.casefold() in AGENTS.names():
        raise UserError(f"a name must not be that of a kind of agents, got {name!r}; choose another.")
    other = next((text for each, text in texts.items() if each.casefold() == name.casefold() and text != agent), None)
    if other is not None:
        raise UserError(
            f"a name must be of one agent, and {name!r} is that of {short_text(other)}; take it away first."
        )
    return name
