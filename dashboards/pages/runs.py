"""Runs, the first page: what is running, what ended, what failed; found, filtered, sorted, and set side by side."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape

from starlette.datastructures import QueryParams

from turnier.core.number_text import number
from turnier.dashboards import markup
from turnier.dashboards.agent_names import games_of, planned, planned_labels, short_game
from turnier.dashboards.app.shown_store import ShownStore
from turnier.dashboards.every_run.origin import settings
from turnier.dashboards.links import HOME, address, run_address
from turnier.dashboards.pages.forms import form, number_of, one_of, select
from turnier.dashboards.pages.page import Block, Page, nothing
from turnier.dashboards.pages.tables import breakable
from turnier.dashboards.run_heading import kind_name, named_agents
from turnier.dashboards.sections import kind_of, kinds_with
from turnier.results.store.progress import ARCHIVED, FINISHED, LIVE, RUNNING, STOPPED, UNKNOWN, WAITING, RunProgress
from turnier.results.store.store import Run

SHOWN, MOST = 40, 5000  # runs shown at first, and at most
FAILING = "with failures"  # not a state, but what people look for beside them
STATES = (RUNNING, WAITING, FINISHED, STOPPED, ARCHIVED, UNKNOWN, FAILING)
DIFFERING, LONGEST = 3, 24  # settings shown in which runs of one name differ, and characters of each
FILTERS = "game", "kind", "state"
FIND = "find"  # a text in a run's id, title, kind, agents or note


def runs_page(shown: ShownStore, query: QueryParams) -> Page:
    """Returns the page of all runs, or of those with a game, a kind or a state."""
    known = shown.runs()
    kinds = sorted({run.kind for run in known.values()} | {query.get("kind", "")}.intersection(kinds_with("BEGIN")))
    if not known:
        begin = 'turnier tournament 2048 random "mc(iterations=50)"'
        blocks = [nothing("No run is stored here yet.", [begin], shown.option)]
        return Page("Runs", blocks, live="/api/live")
    games = sorted({game for run in known.values() for game in games_of(run)})
    options = {"game": games, "kind": kinds, "state": STATES}
    wanted = {key: one_of(query, key, options[key]) for key in FILTERS} | {FIND: query.get(FIND, "").strip()}
    progress = [one for one in reversed(shown.progress().values()) if _fits(shown, one, known.get(one.run), wanted)]
    live = [one for one in progress if one.state in LIVE]
    ended = [one for one in progress if one.state not in LIVE]
    most = number_of(query, "most", SHOWN, MOST)
    blocks = [Block("filters", _filters(options, wanted))]
    blocks.append(Block("count", f"<h2>{len(live)} running</h2>" if live else "<h2>Nothing is running</h2>"))
    blocks += [Block(f"running {one.run}", _running(shown, one, known[one.run])) for one in live]
    if ended:
        blocks.append(Block("ended", _ended(shown, ended[:most], known)))
    elif not live:
        blocks.append(_none(shown, wanted))
    if len(ended) > most:
        words = {key: value for key, value in wanted.items() if value} | {"most": str(min(MOST, 4 * most))}
        more = escape(address(HOME, **words))
        blocks.append(Block("more", f'<p><a href="{more}" data-stay>More of {len(ended):,} runs</a></p>'))
    return Page("Runs", blocks, live="/api/live")


def _fits(shown: ShownStore, progress: RunProgress, run: Run | None, wanted: Mapping[str, str]) -> bool:
    if run is None:
        return False
    return (
        wanted["game"] in ("", *games_of(run))
        and wanted["kind"] in ("", run.kind)
        and wanted["state"] in ("", progress.state, FAILING)
        and _has(progress, run, wanted[FIND].casefold())
        and (wanted["state"] != FAILING or bool(shown.head(run)[1]))
    )


def _has(progress: RunProgress, run: Run, text: str) -> bool:
    """Whether a text is in what the list shows of a run, or in the full texts of its agents."""
    if not text:
        return True
    shown = (run.id, run.kind, name_of(run), progress.note or "", *planned(run), *planned_labels(run))
    return any(text in one.casefold() for one in shown)


def _none(shown: ShownStore, wanted: Mapping[str, str]) -> Block:
    begin = getattr(kind_of(wanted["kind"]), "BEGIN", "") if wanted["kind"] else ""
    if begin:
        return nothing(f"No {wanted['kind']} is like that here.", begin.splitlines(), shown.option)
    return Block("none", "<p>No run is like that.</p>")


def _filters(options: Mapping[str, Sequence[str]], wanted: Mapping[str, str]) -> str:
    find = (
        f'<label><span>find</span><input type="search" name="{FIND}" value="{escape(wanted[FIND])}"'
        ' data-find="#runs tbody tr" placeholder="agent, note, id" title="Enter finds in all runs"></label>'
    )
    return form(
        HOME,
        *(
            select(key, {one: kind_name(one) if key == "kind" else one for one in values}, wanted[key], "any", key)
            for key, values in options.items()
        ),
        find,
    )


def _running(shown: ShownStore, one: RunProgress, run: Run) -> str:
    done, total = one.done or 0, max(1, one.planned or 1)
    later = shown.head(run)[0].unplayed
    facts = {
        "done": f"{done:,} of {total:,} {one.unit}",
        "per second": "..." if one.rate is None else number(one.rate),
        "time left": "..." if one.seconds_left is None or later else time_text(one.seconds_left),
        "running for": time_text(_since(one.started or one.began)),
    }
    shown_facts = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in facts.items())
    note = "<p class='note'>The time left is known once every agent has played: some think longer.</p>" if later else ""
    return (
        f'<section class="running"><h3><a href="{escape(run_address(run.id))}">{escape(name_of(run))}</a> '
        f"<small>{escape(kind_name(run.kind))} · {escape(short_id(run))}</small></h3>{_result(shown, run)}"
        f'<progress value="{min(1.0, done / total):.3f}" aria-label="progress"></progress>'
        f'<dl class="few">{shown_facts}</dl>{note}</section>'
    )


def _ended(shown: ShownStore, some: Sequence[RunProgress], known: Mapping[str, Run]) -> str:
    heads = ("", "run", "kind", "agents", "result", "games", "state", "begun, UTC")
    titles = "".join(
        f'<th{"" if name == "games" else " class=text"}><button type="button" data-sort>{name}</button></th>'
        if name
        else '<th><span class="hidden">choose</span></th>'
        for name in heads
    )
    differ = differing([known[one.run] for one in some])
    rows = "".join(_row(shown, one, known[one.run], differ.get(one.run, "")) for one in some)
    return (
        '<form method="get" action="/compare"><div class="head"><h2>Past runs</h2><button>Set the ticked runs side by'
        f' side</button></div><div class="wide"><table class="data runs" id="runs"><thead><tr>{titles}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div></form><p class="note">To annotate, rename or delete runs:'
        " <code>turnier runs note</code>, <code>turnier runs rename</code>, <code>turnier runs delete</code>.</p>"
    )


def _row(shown: ShownStore, one: RunProgress, run: Run, differ: str) -> str:
    head, _ = shown.head(run)
    agents = named_agents(head.agents or planned(run))
    done = f"{one.stored:,}" if one.done is None else f"{one.done:,}"
    of = "" if one.planned is None or one.done == one.planned else f" of {one.planned:,}"
    took = f"<small>took {time_text(_seconds(one.started, one.ended))}</small>" if one.started and one.ended else ""
    note = f"<small>{escape(one.note)}</small>" if one.note else ""
    begun, state = datetime.fromisoformat(one.began), escape(one.state)
    why = f"<small>{escape(one.reason)}</small>" if one.reason else ""
    ended = f' data-ended="{escape(one.ended)}"' if one.ended else ""
    return (
        f'<tr{ended}><td><input type="checkbox" name="run" value="{escape(run.id)}" aria-label="choose'
        f' {escape(run.id)}"></td>'
        f'<td class="key"><a href="{escape(run_address(run.id))}">{breakable(name_of(run))}</a>'
        f"<small>{escape(' · '.join(filter(None, (short_id(run), differ))))}</small>{note}</td>"
        f'<td class="text">{escape(kind_name(run.kind))}</td><td class="text agents">{breakable(agents)}</td>'
        f'<td class="text">{_result(shown, run)}</td>'
        f'<td data-number="{one.done or one.stored}">{done}{of}<small>{escape(one.unit)}</small></td>'
        f'<td class="text"><span class="{state}">{state}</span>{why}</td>'
        f'<td class="when">{begun:%Y-%m-%d %H:%M}{took}</td></tr>'
    )


def _result(shown: ShownStore, run: Run) -> str:
    head, failed = shown.head(run)
    failures = markup.failed(failed, run_address(run.id, "failures"))
    result = " ".join(filter(None, (markup.unbroken(head.sentence), failures)))
    if not head.colour:
        return f"<div>{result}</div>"
    return f'<div class="verdict" style="border-color: {head.colour}">{result}</div>'


def differing(runs: Sequence[Run]) -> dict[str, str]:
    """Returns the settings that tell runs of one kind and name apart, by their ids; agents have a column of their own.

    Those that differ most come first.
    """
    found = {}
    for _, group in itertools.groupby(sorted(runs, key=_kind_and_name), _kind_and_name):
        alike = {run.id: settings(run.definition) for run in group}
        names = dict.fromkeys(name for one in alike.values() for name in one if name not in ("agents", "agent"))
        values = {name: {one.get(name, "") for one in alike.values()} for name in names}
        told = sorted((name for name in names if len(values[name]) > 1), key=lambda name: -len(values[name]))
        for run, one in alike.items():
            own = [name for name in told if name in one]  # what a run does not set is as usual
            texts = [f"{name} {textwrap.shorten(one[name], LONGEST, placeholder='…')}" for name in own]
            found[run] = " · ".join(texts[:DIFFERING])
    return found


def _kind_and_name(run: Run) -> tuple[str, str]:
    return run.kind, name_of(run)


def name_of(run: Run) -> str:
    """Returns a run's name: a game in its short text form, otherwise the stored name."""
    return short_game(run.name)


def short_id(run: Run) -> str:
    return run.id.partition(":")[2][:8] or run.id


def time_text(seconds: float) -> str:
    """Returns a time span as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _since(moment: str) -> float:
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())


def _seconds(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def listed(shown: ShownStore, only: str = "") -> Iterator[dict[str, object]]:
    """Yields the runs as JSON, the newest first; or only one of them."""
    matches, known = shown.matches(), shown.runs()
    for one in reversed(shown.progress().values()):
        if (run := known.get(one.run)) is None or only not in ("", run.id):
            continue
        head, failed = shown.head(run)
        yield {
            "id": run.id, "name": run.name, "kind": run.kind, "begun": one.began, "ended": one.ended,
            "state": one.state, "done": one.done, "planned": one.planned, "unit": one.unit,
            "seconds_left": one.seconds_left, "matches": matches.get(run.id, 0), "sentence": head.sentence,
            "failed": failed, "agents": list(head.agents or planned(run)), "note": one.note, "reason": one.reason,
        }  # fmt: skip
