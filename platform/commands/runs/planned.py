"""Commands that play a run: each is generated from the plan that declares the run's options, or from several plans."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from ...arena.workers.where import ANYWHERE, Where
from ...core.errors import UserError
from ...runs.declared.kinds import KINDS, plan_of
from ...runs.declared.options import Declared
from ...runs.plan import Plan
from ..command_line import saving
from ..completion import proposing
from ..options import DEFAULT_URL, JsonOption, StoreOption, TrustOption, is_typed
from ..place import placed

ResumeOption = Annotated[
    str,
    typer.Option(
        "--resume",
        help="a run to resume: its name, the beginning of its id, or last; leave out game and agents",
        autocompletion=proposing("run"),
    ),
]

NameOption = Annotated[str, typer.Option("--name", help="a name for the run; default: its game", show_default=False)]

Plans = list[type[Plan[Any]]]


def command_of(kinds: Iterable[str], name: str) -> Callable[..., None]:
    """Returns the command that plays runs of some kinds, of which the typed options choose one."""
    plans = [plan for kind in kinds if (plan := plan_of(kind))]
    # What several plans declare is declared by the first of them; arguments come first.
    declared = {each.name: each for plan in reversed(plans) for each in plan.declared.values()}
    names = dict.fromkeys(each for plan in plans for each in plan.declared)
    ordered = sorted((declared[each] for each in names), key=lambda each: not each.argument)

    def command(
        context: typer.Context,
        resume: ResumeOption = "",
        called: NameOption = "",
        store: StoreOption = DEFAULT_URL,
        where: Where = ANYWHERE,
        trust: TrustOption = False,
        as_json: JsonOption = False,
        **given: Any,
    ) -> None:
        typed = {each: value for each, value in given.items() if is_typed(context, each)}
        _play(plans, name, typed, resume, called, store, where, as_json)

    signature = inspect.signature(command, eval_str=True)
    context, *shared = (each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD)
    shared = [each for each in shared if each.name != "called" or "name" not in declared]  # studies are their names
    own = [_parameter(each) for each in ordered]
    command.__signature__ = signature.replace(parameters=[context, *own, *shared])  # type: ignore[attr-defined]
    command.__doc__ = plans[0].__doc__
    return placed(command)


def _parameter(declared: Declared) -> inspect.Parameter:
    """Returns an option for typer. Positional arguments may be left out, as a resumed run has its own."""
    option, limits = declared.option, declared.option.range_text()
    said = f"{option.help}; {limits}" if limits and option.choices else option.help
    kind: Any = list[str] if declared.is_list else next((each for each in declared.types if each in _PLAIN), str)
    complete: dict[str, Any] = {"autocompletion": proposing(option.complete)} if option.complete else {}
    default = declared.default
    if declared.required:
        default = [] if declared.is_list else "" if kind is str else None
    if declared.argument:
        shown: Any = typer.Argument(help=said, show_default=False, **complete)
    else:
        flag = f"--{declared.name.replace('_', '-')}"
        flags = [flag, option.also] if option.also else [flag]
        shown = typer.Option(*flags, help=said, show_default=not declared.required, **complete)
    if default is None or (declared.is_list and not declared.argument):
        kind, default = kind | None, None
    annotation = Annotated[kind, shown]
    return inspect.Parameter(
        declared.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation
    )


_PLAIN = (bool, int, float, str)


def _play(
    plans: Plans, name: str, typed: dict[str, Any], resume: str, called: str, store: str, where: Where, as_json: bool
) -> None:
    """Plays a run and shows it; finds mistakes before it opens the store for writing."""
    planned = _resumed(plans, name, typed, resume, store) if resume else _planned(plans, typed)
    planned.called = " ".join(called.split())
    where = planned.placed(where)
    from ...core.terminal.console import Console
    from ...results.store.store import Store
    from .show import show

    console = Console(stderr=as_json)
    with Store.open(store) as opened:
        for sentence in planned.notices(opened):
            console.print(sentence, soft_wrap=True, markup=False, highlight=False)
        if planned.only_plan:
            for sentence in planned.forecast(where.workers or os.cpu_count() or 1):
                console.print(sentence, soft_wrap=True, markup=False, highlight=False)
            return
        with saving(planned.stop, lambda: planned.kept):
            results = planned.run(opened, where=where)
        if planned.skipped:
            stored = f"{planned.skipped:,} {planned.unit} were stored already and not played again."
            console.print(stored, highlight=False)
        show(results, as_json=as_json)


def _planned(plans: Plans, typed: dict[str, Any]) -> Plan[Any]:
    """Returns the plan of a new run: the first that has all typed options, with all typed arguments in its places."""
    arguments = _arguments(plans, typed)
    options = typed.keys() - arguments
    plan = next((each for each in plans if options <= each.declared.keys()), plans[-1])
    if len(plans) == 1:
        return plan(**typed)
    values = [value for each in arguments for value in _several(typed[each])]
    places = [each for each in plan.declared.values() if each.argument]
    if places[-1].is_list:
        single = {each.name: value for each, value in zip(places[:-1], values, strict=False)}
        listed = {places[-1].name: values[len(single) :]} if len(values) > len(single) else {}
        return plan(**{each: typed[each] for each in options}, **single, **listed)
    if len(values) > len(places):
        others = [each for other in plans for each in other.declared.values() if each.name not in plan.declared]
        more = next(_flag(each.name) for each in others if each.required and not each.argument)
        said = f"a {plan.kind} takes {len(places)} agents, got {len(values)}"
        raise UserError(f"{said}; to compare more, type {more} too.")
    return plan(**{each: typed[each] for each in options}, **dict(zip((p.name for p in places), values, strict=False)))


def _arguments(plans: Plans, typed: dict[str, Any]) -> list[str]:
    """Returns those of the typed options that are arguments, in the order of their places."""
    known = dict.fromkeys(each.name for plan in plans for each in plan.declared.values() if each.argument)
    return [each for each in known if each in typed]


def _resumed(plans: Plans, name: str, typed: dict[str, Any], resume: str, store: str) -> Plan[Any]:
    """Returns the plan of a stored run, with the options that were typed beside --resume."""
    from ...results.store.manifest import started_with
    from ...results.store.store import Store

    if places := _arguments(plans, typed):
        raise UserError(f"--resume takes {' and '.join(places)} from the run; leave them out.")
    with Store.open(store, read_only=True) as opened:
        run = opened.find_run(resume)
        plan = next((each for each in plans if each.kind == run.kind), None)
        if plan is None:
            known = " or ".join(f"a {each.kind}" for each in plans)
            raise UserError(f"turnier {name} resumes {known}, and {run.id} is a {run.kind}; {_how(run.kind)}.")
        planned = plan.of_run(opened, run, **typed)
    started_with(["turnier", name, *words_of(planned)])
    return planned


def _how(kind: str) -> str:
    return f"type turnier {KINDS[kind].command} --resume" if kind in KINDS else "run its script again"


def words_of(planned: Plan[Any]) -> list[str]:
    """Returns the words of a command line, after the command's name, that make the same plan."""
    places: list[str] = []
    named: list[str] = []
    for name, value in planned.settings.items():
        declared = planned.declared[name]
        texts = [str(each) for each in _several(value)]
        if declared.argument:
            places += texts
        elif value is True:
            named.append(_flag(name))
        elif value != declared.default and value not in (None, False):
            named += [word for text in texts for word in (_flag(name), text)]
    return [*places, *named]


def _several(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
