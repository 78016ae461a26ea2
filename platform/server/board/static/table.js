// A table: the board of a match under way, for its players and for onlookers.

import {annotate} from "/static/boards.js";
import {HeldFocus, ask, chip, get, guarded, make, number, percent, title, trouble} from "/static/page.js";

// Meanings of the arrow keys and the space bar, by names of moves.
const KEYS = {
  ArrowLeft: ["left", "turn_left"], ArrowRight: ["right", "turn_right"], ArrowUp: ["up", "speed_up"],
  ArrowDown: ["down", "slow_down"], " ": ["change_nothing"],
};
const HINT = {1: "mctse(iterations=1000)", more: "mcts(iterations=5000)"};
const SWIPE = 30; // pixels

export async function show(main, id) {
  const keys = new URLSearchParams(location.search);
  new Table(id, keys.get("key") || "", JSON.parse(sessionStorage.getItem(`links of ${id}`) || "{}")).show(main);
}

class Table {
  constructor(id, key, links) {
    this.id = id;
    this.key = key;
    this.links = links; // keys of other people's seats, for the person who began the game
    this.state = null;
    this.clicked = []; // cells of a move of several clicks
    this.hint = null;
  }

  show(main) {
    this.board = make("div", {class: "board", id: "board", onclick: event => this.click(event)});
    this.says = make("p", {id: "says", role: "status"});
    this.buttons = make("div", {class: "bar", id: "actions"});
    this.seats = make("ul", {class: "seats", id: "seats"});
    this.list = make("div", {class: "moves", id: "moves"});
    this.hinted = make("div", {id: "hinted"});
    this.agent = make("input", {class: "wide", id: "hinting", "aria-label": "agent that gives hints", list: "agents"});
    const send = (what, more) => guarded(() => this.send(what, more));
    this.undo = make("button", {id: "undo", onclick: send("undo")}, "Take back");
    this.resign = make("button", {id: "resign", onclick: send("resign")}, "Resign");
    const hint = guarded(async event => {
      event.preventDefault();
      this.hinted.replaceChildren(make("p", {class: "dim"}, "Thinking ..."));
      try {
        this.hint = {turn: this.state.turn, ...await this.send("hint", {agent: this.agent.value})};
      } finally {
        this.draw();
      }
    });
    this.hints = make("form", {class: "bar", onsubmit: hint}, this.agent, make("button", {id: "hint"}, "Hint"), make("datalist", {id: "agents"}));
    ask("/api/names").then(({agents}) => get("agents").append(...agents.map(name => make("option", {value: name})))).catch(() => {});
    main.replaceChildren(make("div", {class: "two"},
      make("section", {"aria-label": "board"}, this.board, this.says, this.buttons),
      make("div", {},
        make("section", {"aria-label": "players"}, this.seats,
          this.bar = make("div", {class: "bar"}, this.undo, this.resign, make("a", {href: "/"}, "New game"))),
        this.hintBox = make("section", {"aria-label": "hints"}, make("h2", {}, "Hints"), this.hints, this.hinted),
        make("section", {"aria-label": "moves"}, make("h2", {}, "Moves"), this.list))));
    addEventListener("keydown", event => this.press(event));
    this.focus = new HeldFocus(this.buttons, this.seats, this.bar);
    this.swipes();
    this.listen();
  }

  listen() {
    const stream = new EventSource(`/api/tables/${encodeURIComponent(this.id)}/events?${new URLSearchParams({key: this.key})}`);
    stream.onmessage = event => {
      trouble("");
      this.state = JSON.parse(event.data);
      this.clicked = [];
      this.draw();
    };
    stream.onerror = () => {
      if (stream.readyState === EventSource.CLOSED) trouble("this table no longer exists; begin another game from the start page.");
      else trouble("the connection is lost; trying again ...");
    };
  }

  send(what, more = {}) {
    return ask(`/api/tables/${encodeURIComponent(this.id)}/${what}`, {key: this.key, ...more});
  }

  play(action) {
    const {turn} = this.state;
    this.state.legal = []; // one move at a time
    guarded(() => this.send("play", {turn, action}))();
  }

  draw() {
    const {state} = this, {seats, legal, moves, toMove} = state;
    this.focus.note();
    title(state.game);
    this.board.innerHTML = state.svg;
    this.board.classList.toggle("open", legal.length > 0);
    for (const cell of new Set(legal.flatMap(move => move.clicks[this.clicked.length] || [])))
      if (legal.some(move => this.follows(move) && move.clicks[this.clicked.length]?.includes(cell)))
        this.board.querySelector(`[data-cell="${cell}"]`)?.classList.add("can");
    for (const cell of this.clicked) this.board.querySelector(`[data-cell="${cell}"]`)?.classList.add("first");
    const mine = state.seat >= 0;
    this.says.textContent = state.over ? this.result() : state.thinking ? `${seats[toMove]?.name ?? "an agent"} is thinking ...` :
      toMove === state.seat ? "Your move." : `${seats[toMove].name} is to move.`;
    const buttons = legal.filter(move => !move.clicks.length || (this.clicked.length === move.clicks.length && this.follows(move)));
    this.buttons.replaceChildren(...buttons.map(move => make("button", {onclick: () => this.play(move.action)}, move.name.replaceAll("_", " "))));
    this.seats.replaceChildren(...seats.map((seat, number_) => this.seat(seat, number_)));
    this.list.replaceChildren(...moves.map((move, place) => make("span", {class: "dim"}, `${place + 1} ${move.name}\u00a0 `)));
    this.list.scrollTop = this.list.scrollHeight;
    this.undo.hidden = this.resign.hidden = this.hintBox.hidden = !mine || state.over;
    this.undo.disabled = this.resign.disabled = state.thinking || toMove !== state.seat;
    this.agent.value ||= HINT[seats.length] || HINT.more;
    this.showHint();
    this.focus.hold();
    if (state.trouble) trouble(state.trouble);
  }

  seat(seat, place) {
    const {state} = this, own = place === state.seat, score = state.over ? state.scores[place] : seat.returns;
    const link = this.links[place] && !own ? make("button", {onclick: guarded(async () => {
      await navigator.clipboard.writeText(`${location.origin}${location.pathname}?key=${this.links[place]}`);
    })}, "Copy this seat's link") : null;
    const exchange = guarded(async () => {
      const agent = seat.human ? prompt("Which agent takes this seat?", this.agent.value) : prompt("Who takes this seat?", "human(name=Me)");
      if (!agent) return;
      const {key} = await this.send("exchange", {seat: place, agent});
      if (key) this.links[place] = key;
      if (own) location.search = "";
    });
    const change = state.seat >= 0 && !state.over ? make("button", {class: "change", disabled: state.thinking, onclick: exchange}, seat.human ? "Let an agent play" : "Take over") : null;
    return make("li", {class: place === state.toMove ? "turn" : ""}, chip(place),
      make("span", {class: "who"}, seat.name + (own ? " (you)" : "")), link, change, make("span", {class: "score"}, number(score)));
  }

  result() {
    const {seats, scores, ending, match} = this.state, best = Math.max(...scores);
    const winners = seats.map((seat, place) => `seat ${place}, ${seat.name},`).filter((_, place) => scores[place] === best);
    const words = seats.length === 1 ? `The end: ${number(scores[0])} points.` : winners.length === seats.length ? "A draw." : `${winners.join(" and ")} won.`;
    this.replay?.remove();
    if (match) this.says.after(this.replay = make("p", {}, make("a", {id: "replay", href: `/match/${match}`}, "Replay this game, with what agents think")));
    return `${words}${ending === "normal" ? "" : ` (${ending})`}`;
  }

  showHint() {
    const {hint, state} = this;
    if (!hint || hint.turn !== state.turn) return this.hinted.replaceChildren();
    const all = hint.actions.reduce((sum, action) => sum + action[1], 0);
    const rows = [...hint.actions].sort((one, other) => (other[0] === hint.choice) - (one[0] === hint.choice) || other[1] - one[1]);
    this.hinted.replaceChildren(make("p", {}, "Best: ", make("b", {}, hint.choice)), make("div", {class: "scroll"}, make("table", {},
      make("thead", {}, make("tr", {}, ...["move", "visits", "value"].map(name => make("th", {}, name)))),
      make("tbody", {}, ...rows.map(([name, visits, value]) => make("tr", {}, make("td", {}, name), make("td", {}, all ? percent(visits / all) : "–"), make("td", {}, number(value))))))));
    const notes = hint.actions.filter(action => action[3] >= 0 && all && action[1] / all >= 0.005);
    annotate(this.board, Object.fromEntries(notes.map(action => [action[3], (100 * action[1] / all).toFixed(0)])));
  }

  follows(move) {
    return this.clicked.every((cell, place) => move.clicks[place]?.includes(cell));
  }

  click(event) {
    const shape = event.target.closest("[data-cell]"), legal = this.state?.legal || [];
    if (!shape || !legal.length) return;
    const cell = Number(shape.dataset.cell);
    for (const clicked of [[...this.clicked, cell], [cell]]) {
      this.clicked = clicked;
      const moves = legal.filter(move => this.follows(move));
      const whole = moves.filter(move => move.clicks.length === clicked.length);
      if (whole.length === 1 && moves.length === 1) return this.play(whole[0].action);
      if (moves.length) return this.draw(); // the next click, or a button where several moves share theirs
    }
    this.clicked = [];
    this.draw();
  }

  press(event) {
    if (event.target.matches("input, select, textarea") || (event.key === " " && event.target.matches("button"))) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const names = KEYS[event.key];
    if (!names) return;
    event.preventDefault();
    const move = (this.state?.legal || []).find(one => names.includes(one.name));
    if (move) this.play(move.action);
  }

  /** Lets a finger move tiles where arrow keys would. */
  swipes() {
    let from = null;
    this.board.addEventListener("pointerdown", event => (from = [event.clientX, event.clientY]));
    addEventListener("pointerup", event => {
      if (!from) return;
      const [x, y] = [event.clientX - from[0], event.clientY - from[1]];
      from = null;
      if (Math.max(Math.abs(x), Math.abs(y)) < SWIPE) return;
      const key = Math.abs(x) > Math.abs(y) ? (x < 0 ? "ArrowLeft" : "ArrowRight") : y < 0 ? "ArrowUp" : "ArrowDown";
      const move = (this.state?.legal || []).find(one => KEYS[key].includes(one.name));
      if (move) this.play(move.action);
    });
  }
}
