// A stored match, move by move: once loaded, it asks the server only for opinions of agents.

import {annotate, Boards} from "/static/boards.js";
import {Graph} from "/static/graph.js";
import {agentName, ask, chip, guarded, make, number, parts, percent, shortNumbers, title, trouble} from "/static/page.js";

const SPEEDS = [1, 2, 5, 10, 30, 100]; // moves a second
const KEYS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity};
const REPEATS = 8;

export async function show(main, id) {
  const match = await ask(`/api/matches/${encodeURIComponent(id)}`);
  new Replay(match).show(main);
}

/** Of an action as the server sends it: [name, visits, value, cell]. */
const NAME = 0, VISITS = 1, VALUE = 2, CELL = 3;

/** What an agent thinks of the moves of a match. */
class Judge {
  constructor(match, agent) {
    this.match = match;
    this.agent = agent; // "": those that played
    this.name = agent || "the players";
    this.actions = new Map(); // by move
    this.choices = new Map();
    this.units = new Set(); // of its values
    this.certainty = new Map();
    this.known = new Map(); // kinds of knowledge to show on the board
  }

  /** What the seat to move may expect: the value of the action that the judge would play. */
  value(move) {
    const choice = this.choices.get(move), known = (this.actions.get(move) || []).find(action => action[NAME] === choice);
    return known ? known[VALUE] : null;
  }

  /** What a move cost its seat: against chance compared with its own choice, otherwise with what came of it. */
  cost(move) {
    const value = this.value(move), {moves, chance, scores} = this.match;
    if (value == null) return null;
    if (chance) {
      const played = this.actions.get(move).find(action => action[NAME] === moves[move].name);
      return played && played[VALUE] != null ? value - played[VALUE] : null;
    }
    let next = move + 1;
    while (next < moves.length && moves[next].seat !== moves[move].seat) next += 1;
    const after = next < moves.length ? this.value(next) : scores[moves[move].seat];
    return after == null ? null : value - after;
  }
}

class Replay {
  constructor(match) {
    this.match = match;
    this.boards = new Boards(match.elements, match.boards);
    this.last = this.boards.length - 1;
    this.now = 0;
    this.judges = [new Judge(match, "")];
    this.streams = [];
    this.timer = null;
    this.jumped = ""; // reason and place of the last jump
    this.hides = new Set(); // kinds of knowledge not to show
    this.run = new URLSearchParams(location.search).get("run") || match.run;
  }

  show(main) {
    const {match} = this;
    title(`${match.game}: ${match.agents.join(" : ")}`);
    this.board = make("div", {class: "board", id: "board"});
    this.scrub = make("input", {type: "range", id: "scrub", min: 0, max: this.last, value: 0, "aria-label": "move", oninput: () => this.go(+this.scrub.value)});
    this.place = make("span", {class: "dim", id: "place", role: "status"});
    this.playing = make("button", {id: "play", onclick: () => this.toggle()}, "Play");
    this.speed = make("select", {id: "speed", "aria-label": "moves per second", onchange: () => this.timer && this.start()},
      ...SPEEDS.map(speed => make("option", {value: speed, selected: speed === 5}, `${speed}/s`)));
    const step = (words, by, label) => make("button", {"aria-label": label, onclick: () => this.go(this.now + by)}, words);
    this.graph = new Graph(this.last, move => this.go(move), "values and scores over the match");
    this.legend = make("ul", {class: "keys"});
    this.seats = make("ul", {class: "seats", id: "seats"});
    this.list = make("div", {class: "moves", id: "moves"});
    this.thoughts = make("div", {id: "thoughts"});
    this.buttons = match.moves.map((move, place) =>
      make("button", {onclick: () => this.go(place), title: `seat ${move.seat}`}, `${place + 1} ${move.name}`));
    this.list.append(...this.buttons);
    this.buttons.push(make("button", {onclick: () => this.go(this.last)}, "end"));
    this.list.append(this.buttons.at(-1));
    this.graphed = make("section", {"aria-label": "graph"}, make("h2", {}, "Over the game"), this.graph.framed, this.legend);
    main.replaceChildren(make("div", {class: "two"},
      make("div", {},
        make("section", {"aria-label": "board"}, this.board,
          make("div", {class: "bar"}, step("|◀", -Infinity, "to the start"), step("◀", -1, "one move back"), this.playing, step("▶", 1, "one move forward"), step("▶|", Infinity, "to the end"), this.speed),
          make("div", {class: "bar"}, this.scrub, this.place)),
        this.graphed),
      make("div", {},
        make("section", {"aria-label": "players"}, this.seats, this.failure(), this.around(), this.links()),
        make("section", {"aria-label": "opinions"}, make("h2", {}, "What agents think"), this.thoughts, this.controls()),
        make("section", {"aria-label": "moves"}, make("h2", {}, "Moves"), this.list))));
    addEventListener("keydown", event => this.key(event));
    addEventListener("hashchange", () => this.go(this.linked()));
    this.scores();
    this.go(this.linked());
    this.listen(this.judges[0], "opinions");
  }

  /** The way back to the run, to the games of the same agents, and to the next one, on pages that have runs. */
  around() {
    const {match, run} = this, bar = make("div", {class: "bar", id: "around"});
    if (!document.querySelector("header nav") || !run) return bar;
    const place = `/runs/${encodeURIComponent(run).replaceAll("%3A", ":")}`, [agent, against] = match.texts;
    const words = new URLSearchParams(against && against !== agent ? {agent, against} : {agent});
    bar.append(make("a", {href: place}, "Back to the run"), make("a", {href: `${place}/games?${words}`}, "Games of these agents"));
    const asked = new URLSearchParams([...new Set(match.texts)].map(text => ["agent", text]));
    ask(`/api/runs/${encodeURIComponent(run)}/matches?${asked}`).then(found => {
      const here = found.findIndex(one => one.id === match.id), next = here < 0 ? null : found[here + 1];
      if (next) bar.append(make("a", {id: "next", href: `/match/${next.id}?${new URLSearchParams({run})}`, title: next.text}, "Next game"));
    }).catch(() => {});
    return bar;
  }

  /** Who failed, how and why. */
  failure() {
    return make("p", {class: "failure", hidden: !this.match.failure}, this.match.failure);
  }

  links() {
    const film = ending => make("a", {href: `/api/matches/${this.match.id}/film.${ending}`, download: true}, ending.toUpperCase());
    const copy = guarded(async () => {
      await navigator.clipboard.writeText(location.href);
      copied.textContent = "copied";
      setTimeout(() => (copied.textContent = "Copy link to this move"), 1500);
    });
    const copied = make("button", {id: "copy", onclick: copy}, "Copy link to this move");
    this.analysis = make("a", {id: "analysis", hidden: this.match.chance}, "Analyse this position");
    return make("div", {class: "bar"}, copied, this.analysis, make("span", {class: "dim"}, "Film: ", film("gif"), " ", film("mp4")),
      make("span", {class: "dim", title: `seed ${this.match.seed}`}, shortNumbers(`${this.match.termination} · seed ${this.match.seed}`)));
  }

  controls() {
    const judge = make("input", {class: "wide", id: "judge", placeholder: "another agent: mcts", title: "such as mcts(iterations=1000)", "aria-label": "another agent", list: "agents"});
    const add = guarded(async event => {
      event.preventDefault();
      const agent = judge.value.trim();
      if (!agent || this.judges.some(known => known.agent === agent)) return;
      const added = new Judge(this.match, agent);
      this.judges.push(added);
      judge.value = "";
      this.listen(added, "opinions");
    });
    const names = make("datalist", {id: "agents"});
    ask("/api/names").then(({agents}) => names.append(...agents.map(name => make("option", {value: name})))).catch(() => {});
    this.costly = make("button", {id: "costly", disabled: true, onclick: () => this.jump("cost")}, "Costliest move");
    this.uncertain = make("button", {id: "uncertain", disabled: true, onclick: () => this.jump("uncertainty")}, "Most uncertain");
    this.switches = make("div", {class: "bar", hidden: true}, ...[["shares", "Probabilities", "What the agent computed for each cell, such as how likely others are to enter it in the next rounds."],
      ["routes", "Paths", "Some of the agent's own longest paths, paler further ahead."]].map(([kind, label, meaning]) =>
      make("label", {title: meaning}, make("input", {type: "checkbox", id: kind, checked: true, onchange: event => {
        event.target.checked ? this.hides.delete(kind) : this.hides.add(kind);
        this.think();
      }}), ` ${label}`)));
    const again = make("button", {id: "again", onclick: () => {
      again.disabled = true;
      this.judges.forEach(one => this.listen(one, "certainty"));
    }}, `Search ${REPEATS} times`);
    return make("div", {}, make("div", {class: "bar"}, this.costly, again, this.uncertain),
      make("form", {class: "bar", onsubmit: add}, judge, make("button", {}, "Ask"), names), this.switches);
  }

  /** Shows what the agent that moved knew, where it shows something on the board. */
  knowledge() {
    const there = this.judges[0].known.get(this.now) || [], shown = there.filter(kind => !this.hides.has(kind)), move = this.now;
    if (there.length) this.switches.hidden = false;
    if (!shown.length) {
      if (this.overlaid === move) this.board.innerHTML = this.boards.svg(move);
      this.overlaid = null;
      return;
    }
    const words = new URLSearchParams(shown.map(kind => ["show", kind])), key = `${move} ${words}`;
    if (this.wanted === key) return;
    this.wanted = key;
    fetch(`/api/matches/${this.match.id}/moves/${move}/board.svg?${words}`).then(answer => answer.ok ? answer.text() : "").then(svg => {
      if (!svg || this.wanted !== key || this.now !== move) return;
      this.board.innerHTML = svg;
      this.overlaid = move;
    }).catch(() => {});
  }

  /** Lets the opinions of a judge, or its certainty, come in one after another. */
  listen(judge, what) {
    const words = new URLSearchParams(what === "certainty" ? {agent: judge.agent, repeats: REPEATS} : {agent: judge.agent});
    const stream = new EventSource(`/api/matches/${encodeURIComponent(this.match.id)}/${what}?${words}`);
    let waiting = false;
    const renew = () => {
      waiting = false;
      this.draw();
      this.think();
    };
    stream.onmessage = event => {
      const {move, choice, actions, unit, certainty, known} = JSON.parse(event.data);
      if (actions) {
        judge.known.set(move, known);
        judge.actions.set(move, actions);
        if (actions.some(action => action[VISITS])) judge.units.add(unit);
        judge.choices.set(move, choice);
      } else judge.certainty.set(move, certainty);
      if (!waiting) setTimeout(renew, 100);
      waiting = true;
    };
    stream.addEventListener("end", () => {
      stream.close();
      judge.ended = true;
      this.thoughts.dataset[what] = Number(this.thoughts.dataset[what] || 0) + 1;
      renew();
    });
    stream.addEventListener("refused", event => {
      stream.close();
      judge.refused = JSON.parse(event.data).error;
      this.draw();
      this.think();
    });
    stream.onerror = () => {
      stream.close(); // it would be computed from the start again
      if (![...judge.actions.keys()].length) this.refusal(judge, stream.url);
    };
  }

  /** Asks for the sentence of what a stream could not say. */
  async refusal(judge, url) {
    await fetch(url).then(answer => answer.ok ? null : answer.json()).then(answer => {
      judge.refused = answer?.error;
      this.think();
    }).catch(() => trouble("the server does not answer; start `turnier board` again and reload the page."));
  }

  linked() {
    const wanted = new URLSearchParams(location.hash.slice(1)).get("move");
    if (wanted && /^\d+$/.test(wanted)) return Number(wanted) - 1;
    return this.match.failure ? this.last : 0; // where an agent failed to move
  }

  key(event) {
    if (event.target.matches("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && !event.target.matches("button")) this.toggle();
    else if (event.key in KEYS) this.go(this.now + KEYS[event.key]);
    else return;
    event.preventDefault();
  }

  toggle() {
    if (this.timer) this.stop();
    else {
      if (this.now === this.last) this.go(0);
      this.start();
    }
  }

  start() {
    this.stop();
    this.playing.textContent = "Pause";
    this.timer = setInterval(() => this.now < this.last ? this.go(this.now + 1) : this.stop(), 1000 / this.speed.value);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playing.textContent = "Play";
  }

  go(move) {
    this.now = Math.min(this.last, Math.max(0, move));
    this.scrub.value = this.now;
    history.replaceState(null, "", `#move=${this.now + 1}`);
    const {match} = this, move_ = match.moves[this.now];
    this.place.textContent = move_ ? `move ${this.now + 1} of ${this.last}` : `the end, after ${this.last} moves`;
    this.board.innerHTML = this.boards.svg(this.now);
    this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const button = this.buttons[this.now];
    button.setAttribute("aria-current", "true");
    this.list.scrollTop = button.offsetTop - this.list.clientHeight / 2;
    const returns = move_ ? move_.returns : match.scores;
    this.seats.replaceChildren(...match.agents.map((agent, seat) => make("li", {class: move_?.seat === seat ? "turn" : ""},
      chip(seat), ...agentName(agent, match.texts[seat]), make("span", {class: "score"}, number(returns[seat])))));
    const before = match.moves.slice(0, this.now).map(move => move.name).join(" ");
    this.analysis.href = `/analyse?${new URLSearchParams({game: match.game, text: `moves ${before}`})}`;
    this.graph.point(this.now);
    this.wanted = this.overlaid = null;
    this.think();
  }

  /** Shows what is thought of the present position; what has the focus below it stays where it is. */
  think() {
    const focused = document.activeElement, before = focused.getBoundingClientRect();
    this.tell();
    const seen = focused !== document.body && before.bottom > 0 && before.top < innerHeight;
    if (seen) scrollBy(0, focused.getBoundingClientRect().top - before.top);
  }

  tell() {
    this.knowledge();
    const move = this.match.moves[this.now], known = this.judges.filter(judge => judge.actions.has(this.now));
    this.board.querySelectorAll("text.note").forEach(note => note.remove());
    const refused = this.judges.filter(judge => judge.refused).map(judge => make("p", {class: "dim"}, `${judge.name}: `, ...parts(judge.refused)));
    if (!move) return this.thoughts.replaceChildren(make("p", {class: "dim"}, "The end."), ...refused);
    if (move.opening) return this.thoughts.replaceChildren(make("p", {class: "dim"}, "An opening move; no agent chose it."), ...refused);
    const silent = known.length && !known.some(judge => judge.actions.get(this.now).some(action => action[VISITS]));
    if (silent) return this.thoughts.replaceChildren(make("p", {class: "dim"}, "This agent does not search, so it has no visits or values."), ...refused);
    const none = this.judges.every(judge => judge.ended) ? "A person or a program made this move and is not asked again. Ask another agent." : "Asking ...";
    if (!known.length) return this.thoughts.replaceChildren(make("p", {class: "dim"}, refused.length ? "" : none), ...refused);
    const first = known[0].actions.get(this.now), rows = new Map(first.map(action => [action[NAME], action]));
    const order = [...rows.values()].sort((one, other) => other[VISITS] - one[VISITS] || (other[VALUE] ?? -Infinity) - (one[VALUE] ?? -Infinity)).map(action => action[NAME]);
    const heads = known.flatMap(judge => [make("th", {title: judge.name}, "visits"), make("th", {title: judge.name}, "value")]);
    const names = known.length > 1 ? [make("tr", {}, make("th", {}), ...known.map(judge => make("th", {colspan: 2}, judge.name)))] : [];
    const body = order.map(name => make("tr", {class: name === move.name ? "played" : ""}, make("td", {}, name), ...known.flatMap(judge => {
      const actions = judge.actions.get(this.now), action = actions.find(one => one[NAME] === name);
      const all = actions.reduce((sum, one) => sum + one[VISITS], 0);
      return [make("td", {}, action && all ? percent(action[VISITS] / all) : "–"), make("td", {}, number(action?.[VALUE]))];
    })));
    const facts = known.map(judge => {
      const cost = judge.cost(this.now), certainty = judge.certainty.get(this.now);
      const words = [cost == null ? "" : `cost ${number(cost)}`, certainty == null ? "" : `certainty ${percent(certainty)} of ${REPEATS} searches`].filter(Boolean).join(" · ");
      return words ? make("p", {class: "dim"}, known.length > 1 ? `${judge.name}: ${words}` : words) : null;
    });
    this.thoughts.replaceChildren(...facts.filter(Boolean), make("div", {class: "scroll"}, make("table", {}, make("thead", {}, ...names, make("tr", {}, make("th", {}, "move"), ...heads)), make("tbody", {}, ...body))), ...refused);
    const all = first.reduce((sum, one) => sum + one[VISITS], 0);
    const notes = first.filter(action => action[CELL] >= 0 && all && action[VISITS] / all >= 0.005);
    annotate(this.board, Object.fromEntries(notes.map(action => [action[CELL], (100 * action[VISITS] / all).toFixed(0)])));
  }

  /** Draws the scores, and what judges have said so far. */
  scores() {
    const {match} = this, many = match.moves.map(move => move.returns).concat([match.scores]);
    const range = [Math.min(...many[0]), many.flat().reduce((most, value) => Math.max(most, value), 0)];
    if (match.chance)
      match.agents.forEach((_, seat) => this.graph.line(`score ${seat}`, many.map((returns, move) => [move, returns[seat]]), `var(--seat${seat % 6})`, range, true));
    this.draw();
  }

  draw() {
    const {match, judges} = this, keys = [];
    judges.forEach((judge, which) => {
      match.agents.forEach((_, seat) => {
        const points = [...judge.actions.keys()].filter(move => match.moves[move].seat === seat && judge.value(move) != null)
          .sort((one, other) => one - other).map(move => [move, judge.value(move)]);
        if (points.length) {
          const colour = `var(--seat${(which ? seat + 2 * which : seat) % 6})`;
          this.graph.line(`value ${which} ${seat}`, points, colour);
          keys.push([colour, `value for seat ${seat}, at the left${which ? `, by ${judge.name}` : ""}`]);
        }
      });
      const certain = [...judge.certainty].sort((one, other) => one[0] - other[0]);
      if (certain.length) {
        this.graph.line(`certainty ${which}`, certain, "var(--mark)", [0, 1], true);
        keys.push(["var(--mark)", `certainty, 0 to 100 %${which ? `, of ${judge.name}` : ""}`, true]);
      }
    });
    this.graphed.hidden = !this.graph.lines.size && judges.every(judge => judge.ended || judge.refused);
    this.graph.draw(this.now);
    const {low, high, least, most} = this.graph, units = [...new Set(judges.flatMap(judge => [...judge.units]))].join("; or ");
    const beyond = least < low || most > high ? `; drawn at the edge beyond ${number(low)} and ${number(high)}` : "";
    const range = Number.isFinite(least) ? `values from ${number(least)} to ${number(most)} (${units})${beyond}` : "";
    const score = this.graph.lines.has("score 0") ? [["var(--seat0)", "score, at the right", true]] : [];
    this.legend.replaceChildren(...[...score, ...keys].map(([colour, name, dashed]) =>
      make("li", {}, make("span", {class: dashed ? "dashed" : "", style: `color: ${colour}`}), name)), make("li", {class: "dim"}, range));
    this.costly.disabled = !judges.some(judge => [...judge.actions.keys()].some(move => judge.cost(move) != null));
    this.uncertain.disabled = !judges.some(judge => judge.certainty.size);
  }

  /** Goes to the most costly or most uncertain move, by the judge that was asked last; again, to the next one. */
  jump(what) {
    const weigh = what === "cost" ? (judge, move) => judge.cost(move) : (judge, move) => 1 - (judge.certainty.get(move) ?? 1);
    const judge = this.judges.filter(one => what === "cost" ? one.actions.size : one.certainty.size).at(-1);
    const moves = this.match.moves.map((_, move) => [move, weigh(judge, move)]).filter(([, weight]) => weight != null && weight > 0)
      .sort((one, other) => other[1] - one[1] || one[0] - other[0]).map(([move]) => move);
    if (!moves.length) return;
    const again = this.jumped === what + this.now;
    this.go(moves[again ? (moves.indexOf(this.now) + 1) % moves.length : 0]);
    this.jumped = what + this.now;
  }
}
