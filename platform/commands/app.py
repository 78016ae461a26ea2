"""The command line: games, agents, play, tournament, compare, tune, certainty, train, results, report, verify."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import turnier
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.arena.positions import COLLECTOR
from turnier.commands.command_line import run_app
from turnier.commands.operations import doctor, export, resumed_words, status
from turnier.commands.results.replay import replay
from turnier.commands.runs.tune import tune
from turnier.commands.services.dashboard import dashboard, write_reports
from turnier.commands.services.join import join
from turnier.commands.services.serve import serve
from turnier.core.errors import UserError
from turnier.core.parameters import Declared, Registry, parameters_of
from turnier.games.registry import GAMES

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    invoke_without_command=True,
    rich_markup_mode=None,
    help="Tournaments and parameter search for game-playing agents.",
)
console = Console()

DEFAULT_STORE = "sqlite:///turnier.db"
StoreOption = Annotated[str, typer.Option("--store", help="SQLite or PostgreSQL URL")]
WorkersOption = Annotated[int | None, typer.Option(help="default: all cores")]
AddressOption = Annotated[str | None, typer.Option(help="Ray cluster to join, such as auto; default: RAY_ADDRESS")]
BudgetOption = Annotated[str, typer.Option(help="hold every agent to so much per move: 50ms, 1000rollouts, 1000nodes")]
AgentsArgument = Annotated[list[str], typer.Argument(help='agents, such as random "mc(iterations=200)"')]


@app.callback()
def version(show: Annotated[bool, typer.Option("--version", help="print the version", is_eager=True)] = False) -> None:
    if show:
        print(f"turnier {turnier.__version__}")
        raise typer.Exit()


@app.command("games", short_help="Lists the games, or the parameters of one.")
def list_games(name: Annotated[str, typer.Argument(help="one game in detail")] = "") -> None:
    """Lists the games, or the parameters of one.

    Example: turnier games 2048
    """
    if name:
        _print_parameters(GAMES.load(name))
    else:
        _print_declared(GAMES, "games")


@app.command("agents", short_help="Lists the agents, or the parameters of one.")
def list_agents(name: Annotated[str, typer.Argument(help="one agent or evaluator in detail")] = "") -> None:
    """Lists the agents and evaluators, or the parameters of one.

    Example: turnier agents mctse
    """
    if not name:
        _print_declared(AGENTS, "agents")
        _print_declared(EVALUATORS, "evaluators")
        return
    registry: Registry[Any] = EVALUATORS if name in EVALUATORS.places else AGENTS
    cls = registry.load(name)
    _print_parameters(cls)


def _print_parameters(cls: type[Declared]) -> None:
    paragraphs = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    for paragraph in paragraphs:
        console.print(" ".join(paragraph.splitlines()) + "\n", markup=False, highlight=False)
    table = Table("parameter", "default", "range", "meaning")
    for field, info in parameters_of(cls):
        default = field.default
        text = f"{default:.6g}" if isinstance(default, float) else str(default)
        text = text.lower() if isinstance(default, bool) else text
        ranges = f"any {default.kind}" if isinstance(default, Declared) else info.range_text() or "true | false"
        table.add_row(field.name, text, ranges, info.help)
    console.print(table)


def _print_declared(registry: Registry[Any], title: str) -> None:
    table = Table("name", "parameters", "what it is", title=title)
    for name in registry.names():
        cls = registry.load(name)
        parameters = ", ".join(field.name for field, _ in parameters_of(cls))
        table.add_row(name, parameters, (cls.__doc__ or "").strip().splitlines()[0])
    console.print(table)


@app.command(short_help="Plays one match and prints its end.")
def play(
    game: Annotated[str, typer.Argument(help='a game, such as 2048 or "2048(size=3)"')],
    agents: AgentsArgument,
    seed: Annotated[int, typer.Option(help="same seed, same match")] = 1,
    show: Annotated[bool, typer.Option("--show", help="print every position")] = False,
    executor: Annotated[str, typer.Option(help="where members of ensembles search: ray, threads, serial")] = "threads",
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Plays one match, one agent per seat, and prints its end.

    Example: turnier play 2048 "mc(iterations=50)" --seed 3 --show
    """
    from turnier.arena.workers.make import make_pool
    from turnier.commands.runs.show_match import watch

    made, players = GAMES.make(game), [AGENTS.make(agent) for agent in agents]
    with make_pool(players, executor, workers, address) as pool:
        watch(made, players, seed, console, show, pool)


@app.command(short_help="Plays a tournament into the store.")
def tournament(
    game: Annotated[str, typer.Argument(help="a game, such as 2048 or tictactoe")] = "",
    agents: Annotated[list[str] | None, typer.Argument(help='agents, such as random "mc(iterations=200)"')] = None,
    games: Annotated[
        int, typer.Option(help="games of each agent (one seat) or group of agents; adaptive: most games of all")
    ] = 20,
    seed: Annotated[int, typer.Option(help="same seed, same games, whatever the workers")] = 1,
    form: Annotated[str, typer.Option("--format", help="round_robin, gauntlet, swiss or adaptive")] = "round_robin",
    budget: BudgetOption = "",
    openings: Annotated[int, typer.Option(help="play from every position after at most so many plies", min=0)] = 0,
    challengers: Annotated[int, typer.Option(help="gauntlet: so many agents, named first, play the others")] = 1,
    rounds: Annotated[int, typer.Option(help="swiss: rounds, 0 = until one agent is unbeaten", min=0)] = 0,
    top: Annotated[int, typer.Option(help="adaptive: how many first places must be certain")] = 3,
    certain: Annotated[float, typer.Option(help="adaptive: how certain")] = 0.95,
    store: StoreOption = DEFAULT_STORE,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: WorkersOption = None,
    address: AddressOption = None,
    resume: Annotated[str, typer.Option(help="a run that `turnier status` shows, in place of all but where")] = "",
) -> None:
    """Plays a tournament in all seat orders into the store; games that it has already are not played again.

    Formats: a round robin of all; a gauntlet of the first agents against the others; Swiss rounds between equals for
    many agents; adaptive, which spends games of two seats where the first places are unsure and stops when they are
    certain. Agents alone at a game play the same seeds.

    \b
    Examples:
      turnier tournament 2048 random "mc(iterations=200,rollout_depth=20)" --games 20 --seed 7
      turnier tournament yavalath mcts "alphabeta(depth=4)" "mc(iterations=100)" --budget 50ms --format gauntlet
      turnier tournament --resume tournament:1f0c    # or the same command again
    """
    if resume:
        others = [game, *(agents or ())] if game else []
        words = resumed_words(resume, others, store, executor=executor, workers=workers, address=address)
        app(words, standalone_mode=False)
        return
    if not game or not agents:
        raise UserError("a tournament needs a game and agents, or a run after --resume; see turnier tournament --help.")
    from turnier.arena.workers.make import make_executor
    from turnier.commands.runs.tournament import show
    from turnier.results.store.store import Store
    from turnier.runs.bar import run_bar
    from turnier.runs.tournament import Tournament

    wanted = Tournament(game, agents, form, games, seed, openings, challengers, rounds, top, certain, budget)
    with Store.open(store) as results:
        results.begin_run(wanted.run_id, "tournament", str(wanted.game), wanted.definition)
        with (
            make_executor(executor, workers, address) as pool,  # first: what cannot start needs no bar
            run_bar(results, wanted.run_id, str(wanted.game), wanted.most_games) as bar,
        ):
            for records in wanted.play(results, pool, bar):
                bar.advance(len(records))
        if bar.skipped:
            console.print(f"{bar.skipped} of {bar.total} games were stored already and not played again.")
        show(console, results, wanted)


@app.command(short_help="Plays two agents until it is decided which is stronger.")
def compare(
    first: Annotated[str, typer.Argument(help="the agent that the verdict is about")],
    second: Annotated[str, typer.Argument(help="the agent that it is compared with")],
    game: Annotated[str, typer.Option(help="a game, such as 2048 or tictactoe")],
    margin: Annotated[
        float | None,
        typer.Option(help="what counts as equal: 20 Elo, for one seat 5 % of the second's mean score"),
    ] = None,
    alpha: Annotated[float, typer.Option(help="most probability of a wrong verdict")] = 0.05,
    games: Annotated[int, typer.Option(help="most games")] = 10_000,
    seed: Annotated[int, typer.Option(help="same seed, same games, whatever the workers")] = 1,
    openings: Annotated[int, typer.Option(help="start from random openings of at most so many plies", min=0)] = 0,
    budget: BudgetOption = "",
    first_round: Annotated[int, typer.Option("--round", help="pairs of games between two looks, at least")] = 32,
    store: StoreOption = DEFAULT_STORE,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: WorkersOption = None,
    address: AddressOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Plays pairs of games (same seed, seats rotated) until a sequential test decides, and says it in one sentence.

    The first agent is stronger, weaker, or equal within the margin; each of these is wrong with probability alpha at
    most. In games of three and more seats the two agents take the seats in every way. Games that the store has already
    are not played again: the same command goes on, also with a smaller margin or more games.

    \b
    Examples:
      turnier compare random "mc(iterations=20,rollout_depth=10)" --game 2048
      turnier compare "mcts(iterations=1000)" "alphabeta(depth=4)" --game yavalath --margin 50 --openings 1
    """
    from turnier.arena.workers.make import make_executor
    from turnier.commands.runs.compare import show
    from turnier.results.store.store import Store
    from turnier.runs.comparison import Comparison

    wanted = Comparison(game, (first, second), seed, margin, alpha, games, first_round, openings, budget)
    with Store.open(store) as results, make_executor(executor, workers, address) as pool:
        wanted.play(results, pool)
        show(console, wanted, results, as_json)


@app.command(short_help="Measures how often searches of the same position agree.")
def certainty(
    game: Annotated[str, typer.Argument(help="a game, such as 2048 or yavalath")],
    agents: AgentsArgument,
    states: Annotated[int, typer.Option(help="positions of each group (legal actions, phase of the game)")] = 20,
    repeats: Annotated[int, typer.Option(help="searches of each position")] = 20,
    games: Annotated[int, typer.Option(help="games that positions are collected from")] = 20,
    collector: Annotated[str, typer.Option(help="the agent that plays them")] = COLLECTOR,
    seed: Annotated[int, typer.Option(help="same seed, same positions and searches, whatever the workers")] = 1,
    store: StoreOption = DEFAULT_STORE,
    executor: Annotated[str, typer.Option(help="ray, threads or serial")] = "ray",
    workers: Annotated[int | None, typer.Option(help="default: all cores")] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join, such as auto; default: RAY_ADDRESS")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Searches positions of real games again and again, and shows how often an agent chooses the same action.

    Normalised certainty (Kutsch 2017, 9.1) is 0 where all actions are equally frequent and 1 where it is always the
    same; agreement, of pairs of searches, is 0 for a random agent however few the searches are.
    What is stored already is not searched again.

    Example: turnier certainty 2048 random "mc(iterations=100)" --states 5
    """
    from turnier.arena.workers.make import make_executor
    from turnier.commands.runs.certainty import show
    from turnier.results.store.store import Store
    from turnier.runs.certainty import Certainty, measure

    wanted = Certainty.of(game, agents, states, repeats, collector, games, seed)
    with Store.open(store) as results, make_executor(executor, workers, address) as pool:
        votes = measure(wanted, results, pool)
    show(console, wanted, votes, as_json)


@app.command(short_help="Learns an n-tuple network into a file.")
def train(
    game: Annotated[str, typer.Argument(help="a game with a board, such as 2048 or yavalath")],
    evaluator: Annotated[str, typer.Argument(help='the network, such as "ntuple(network=4x6)"')],
    out: Annotated[Path, typer.Option(help="the weights; a file that is there is trained on")],
    games: Annotated[int, typer.Option(help="games in all, earlier runs included", min=1)] = 10_000,
    learning: Annotated[str, typer.Option(help='how, such as "td(alpha=0.1,coherence=false)"')] = "td",
    seed: Annotated[int, typer.Option(help="same seed and one thread, same weights", min=0)] = 1,
    threads: Annotated[int, typer.Option(help="threads that learn at once, sharing one table", min=1)] = 1,
    every: Annotated[int, typer.Option(help="games of a point of the learning curve", min=1)] = 1000,
    evaluate_every: Annotated[int, typer.Option(help="evaluate after every so many games, 0 = never", min=0)] = 0,
    against: Annotated[str, typer.Option(help="who evaluates, in games of several seats; default: MCTS")] = "",
    evaluation_games: Annotated[int, typer.Option(help="games of an evaluation, in all seat orders", min=1)] = 10,
    evaluation_workers: Annotated[int, typer.Option(help="threads that evaluate while training goes on", min=1)] = 1,
    plot: Annotated[Path | None, typer.Option(help="a picture of the curve, such as curve.png")] = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Learns an n-tuple network by self-play into a file; stopped in any way, the same command goes on.

    The curve goes into the store, and so do the games of evaluations: those of the greedy agent on the network as it
    was after so many games, alone or against another agent. What is stored is not played again.

    \b
    Examples:
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out weights.npz
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out w.npz --evaluate-every 2000 --plot curve.png
      turnier train yavalath "ntuple(tuples=100,length=7)" --learning "td(epsilon=0.1)" --games 25000 --out y.npz \\
        --evaluate-every 5000 --against "mcts(iterations=10000)"
    """
    from turnier.commands.runs.train import Wanted, train
    from turnier.results.store.store import Store

    shown = (evaluate_every, against, evaluation_games, evaluation_workers, plot)
    wanted = Wanted(game, evaluator, learning, games, out, seed, threads, every, *shown)
    with Store.open(store) as results:
        train(console, wanted, results)


@app.command(short_help="Shows what is stored.")
def results(
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[str, typer.Option(help="one run; default: all tournaments")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Shows what is stored: mean, 95 % interval, games and shares per agent; ratings, and who beats whom.

    Example: turnier results --json
    """
    from turnier.commands.standings_tables import print_standings, with_standings
    from turnier.commands.tables import print_seats, print_summary
    from turnier.results.frames.matches import json_rows, matches_frame, seat_summary, summary
    from turnier.results.frames.standings import Standings
    from turnier.results.store.store import Store

    results_store = Store.open(store, read_only=True)
    frame = matches_frame(results_store, run=run or None, kind=None if run else "tournament", ids=False)
    found = Standings.of(frame)
    if as_json:
        print(json.dumps(with_standings(json_rows(summary(frame)), *found), indent=2))
        return
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, *found)


@app.command(short_help="Renders a page of ours beside published figures.")
def report(
    document: Annotated[str, typer.Argument(help="weitz, or any document of stored experiments; or a run with --html")],
    store: StoreOption = DEFAULT_STORE,
    out: Annotated[Path, typer.Option(help="folder for the pages")] = Path("reports"),
    as_html: Annotated[bool, typer.Option("--html", help="a run's figures as one file that needs no other")] = False,
) -> None:
    """Renders the stored experiments of a document as one Markdown and one HTML page, or a run of any kind as HTML.

    Examples: turnier report weitz, turnier report tournament:1f0c --html
    """
    write_reports(document, store, out, as_html)


@app.command(short_help="Checks rules against recorded games.")
def verify(
    game: Annotated[str, typer.Argument(help="the game whose rules are checked")],
    files: Annotated[list[Path], typer.Argument(help="JSON lines: recorded or exported games, or positions")],
) -> None:
    """Replays games or positions; exits 0 only if every line agrees, else prints the first disagreement.

    Example: turnier verify 2048 tests/data/2048/moves.jsonl
    """
    from turnier.arena.match_json import is_exported, verify_exported
    from turnier.games.verify import verify_file

    made = GAMES.make(game)
    for file in files:
        lines, disagreement = (verify_exported if is_exported(file) else verify_file)(made, file)
        if disagreement:
            console.print(f"{file}:{disagreement}", markup=False, soft_wrap=True)
            raise typer.Exit(1)
        console.print(f"{file}: all {lines} lines agree.")


@app.command(short_help="Measures speed beside C programs.")
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="what to measure; default: all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    rounds: Annotated[int, typer.Option(help="measurements of each, medians are shown", min=1)] = 5,
) -> None:
    """Measures speed beside C programs of our own in the same run (needs gcc and the repository's benchmarks/).

    \b
    Examples:
      turnier bench
      turnier bench random_2048 learn_tc_2048 --rounds 9 --json
    """
    from turnier.bench import benchmark_table, run_benchmarks

    measured = run_benchmarks(Console(stderr=True), rounds, names or ())
    if as_json:
        print(json.dumps(measured, indent=2))
    else:
        console.print(benchmark_table(measured))


app.command(short_help="Shows running and past runs.")(status)
app.command(short_help="Writes a run's games to files.")(export)
app.command(short_help="Checks what Turnier stands on.")(doctor)
app.command(short_help="Shows everything stored in the browser.")(dashboard)
app.command(short_help="Searches the parameters with which an agent plays best.")(tune)
app.command(short_help="Serves games over the network, with a live page.")(serve)
app.command(short_help="Plays with an agent on a server.")(join)
app.command(short_help="Shows a played game again.")(replay)


def main() -> None:
    run_app(app)
