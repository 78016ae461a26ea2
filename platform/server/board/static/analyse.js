// Any position, set up by text or by moves on the board, and agents' opinions of it from ever deeper searches.

import {annotate} from "/static/boards.js";
import {HeldFocus, ask, guarded, make, number, percent, title, trouble} from "/static/page.js";

const NAME = 0, VISITS = 1, VALUE = 2, CELL = 3;

export async function show(main) {
  await new Analysis(new URLSearchParams(location.search)).show(main);
}

class Analysis {
  constructor(asked) {
    this.asked = asked;
    this.clicked = [];
    this.stream = null;
    this.found = null;
  }

  async show(main) {
    const field = (id, value, label, list) => make("input", {id, class: "wide", value, "aria-label": label, list});
    this.game = field("game", this.asked.get("game") || "yavalath", "game", "games");
    this.text = make("textarea", {id: "text", rows: 5, class: "wide", "aria-label": "position"}, this.asked.get("text") || "");
    this.agents = field("agentlist", this.asked.getAll("agent").join(" ; "), "agents, separated by semicolons");
    this.seconds = make("input", {id: "seconds", type: "number", value: 10, min: 1, max: 600, "aria-label": "seconds"});
    this.board = make("div", {class: "board", id: "board", onclick: event => this.click(event)});
    this.says = make("p", {id: "says", role: "status"});
    this.moves = make("div", {class: "bar", id: "actions"});
    this.focus = new HeldFocus(this.moves);
    this.results = make("div", {id: "results"});
    const set = guarded(async event => {
      event?.preventDefault();
      await this.set();
    });
    const names = make("datalist", {id: "games"});
    ask("/api/names").then(({games}) => names.append(...games.map(name => make("option", {value: name})))).catch(() => {});
    main.replaceChildren(make("div", {class: "two"},
      make("section", {"aria-label": "board"}, this.board, this.says, this.moves),
      make("div", {},
        make("section", {}, make("h2", {}, "Position"), make("form", {onsubmit: set}, make("div", {class: "bar"}, this.game),
          make("div", {class: "bar"}, this.text), this.help = make("p", {class: "dim"}), make("button", {id: "set"}, "Set up"))),
        make("section", {}, make("h2", {}, "What agents say"), make("div", {class: "bar"}, this.agents, this.seconds, "s"),
          make("div", {class: "bar"}, make("button", {class: "main", id: "analyse", onclick: guarded(() => this.analyse())}, "Analyse"), make("button", {id: "stop", onclick: () => this.stop()}, "Stop")), this.results)), names));
    await guarded(() => this.set())();
  }

  async set(play) {
    this.stop();
    this.found = null;
    const words = new URLSearchParams({game: this.game.value.trim(), text: this.text.value});
    if (play) words.set("play", play);
    this.position = await ask(`/api/position?${words}`);
    this.text.value = this.position.text;
    this.clicked = [];
    if (!this.agents.value) {
      const {opponent} = await ask(`/api/game?${new URLSearchParams({text: this.game.value.trim()})}`);
      this.agents.value = opponent;
    }
    this.draw();
  }

  draw() {
    const {position} = this, {legal} = position;
    this.focus.note();
    title(`${position.game}: analysis`);
    this.board.innerHTML = position.svg;
    this.board.classList.toggle("open", legal.length > 0);
    for (const move of legal.filter(move => this.follows(move)))
      for (const cell of move.clicks[this.clicked.length] || []) this.board.querySelector(`[data-cell="${cell}"]`)?.classList.add("can");
    for (const cell of this.clicked) this.board.querySelector(`[data-cell="${cell}"]`)?.classList.add("first");
    this.says.textContent = legal.length ? `Seat ${position.toMove} is to move. A click plays a move.` : "The game is over.";
    const buttons = legal.filter(move => !move.clicks.length || (move.clicks.length === this.clicked.length && this.follows(move)));
    this.moves.replaceChildren(...buttons.map(move => make("button", {onclick: guarded(() => this.set(move.name))}, move.name.replaceAll("_", " "))));
    this.focus.hold();
    this.help.textContent = `A board${position.help ? ` (example: ${position.help})` : ""}, or "moves" followed by the moves from the start.`;
    this.results.replaceChildren();
  }

  follows(move) {
    return this.clicked.every((cell, place) => move.clicks[place]?.includes(cell));
  }

  click(event) {
    const shape = event.target.closest("[data-cell]");
    if (!shape) return;
    for (const clicked of [[...this.clicked, Number(shape.dataset.cell)], [Number(shape.dataset.cell)]]) {
      this.clicked = clicked;
      const moves = this.position.legal.filter(move => this.follows(move));
      if (moves.length === 1 && moves[0].clicks.length === clicked.length) return guarded(() => this.set(moves[0].name))();
      if (moves.length) return this.draw();
    }
    this.clicked = [];
    this.draw();
  }

  stop() {
    this.stream?.close();
    this.stream = null;
  }

  analyse() {
    this.stop();
    const words = new URLSearchParams({game: this.game.value.trim(), text: this.text.value, seconds: this.seconds.value});
    for (const agent of this.agents.value.split(";")) words.append("agent", agent.trim());
    this.results.replaceChildren(make("p", {class: "dim"}, "Searching ..."));
    const stream = this.stream = new EventSource(`/api/analysis?${words}`);
    stream.onmessage = event => this.report(JSON.parse(event.data));
    stream.addEventListener("end", () => this.stop());
    stream.addEventListener("refused", event => {
      this.stop();
      trouble(JSON.parse(event.data).error);
    });
    stream.onerror = guarded(async () => {
      this.stop();
      const answer = await fetch(stream.url), known = await answer.json().catch(() => ({}));
      throw new Error(known.error || "the analysis ended early; try again.");
    });
  }

  report({seconds, agents}) {
    this.results.replaceChildren(make("p", {class: "dim"}, `${seconds.toFixed(1)} s`), ...agents.map(one => {
      const all = one.actions.reduce((sum, action) => sum + action[VISITS], 0);
      const rows = [...one.actions].sort((a, b) => (b[NAME] === one.choice) - (a[NAME] === one.choice) || b[VISITS] - a[VISITS] || (b[VALUE] ?? -Infinity) - (a[VALUE] ?? -Infinity));
      return make("div", {class: "agent"}, make("p", {}, make("b", {}, one.choice), ` by ${one.searching}`),
        make("p", {class: "dim"}, `certainty ${percent(one.certainty)} (${percent(one.interval[0])} to ${percent(one.interval[1])}) of ${one.searches} ${one.searches === 1 ? "search" : "searches"} · expects ${one.line.join(" ") || "…"}`),
        make("div", {class: "scroll"}, make("table", {}, make("thead", {}, make("tr", {}, ...["move", "visits", "value"].map(name => make("th", {}, name)))),
          make("tbody", {}, ...rows.slice(0, 12).map(action => make("tr", {}, make("td", {}, action[NAME]), make("td", {}, all ? percent(action[VISITS] / all) : "–"), make("td", {}, number(action[VALUE]))))))));
    }));
    const first = agents[0], all = first.actions.reduce((sum, action) => sum + action[VISITS], 0);
    this.board.innerHTML = this.position.svg;
    annotate(this.board, Object.fromEntries(first.actions.filter(action => action[CELL] >= 0 && all && action[VISITS] / all >= 0.005).map(action => [action[CELL], (100 * action[VISITS] / all).toFixed(0)])));
  }
}
