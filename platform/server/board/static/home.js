// The start page: a game to play, and stored matches.

import {ask, guarded, make, shortNumbers, title} from "/static/page.js";

export async function show(main) {
  title("");
  const known = await ask("/api/names");
  main.replaceChildren(make("div", {class: "two"}, await playBox(known), await replayBox(known)));
}

async function playBox({games, agents}) {
  const wanted = new URLSearchParams(location.search);
  const game = make("input", {class: "wide", id: "game", list: "games", value: wanted.get("game") || "yavalath", "aria-label": "game", onchange: () => seat()});
  const seats = make("div", {id: "seats"});
  const ready = make("fieldset", {}, seats,
    make("p", {class: "dim"}, "Each seat takes an agent or a person, such as human(name=Ann). The table has links for the other people."),
    make("button", {class: "main", id: "begin"}, "Play"));
  let asked = "";
  const seat = guarded(async () => {
    if (game.value === asked) return; // keeps the text in the seats
    const text = asked = game.value;
    ready.disabled = true; // until its seats are known: text in the seats of another game would be lost
    const known = await ask(`/api/game?${new URLSearchParams({text})}`);
    if (text !== asked) return; // another game was asked for meanwhile
    ready.disabled = false;
    seats.replaceChildren(...Array.from({length: known.seats}, (_, place) => make("div", {class: "bar"},
      make("label", {for: `seat${place}`}, `seat ${place}`),
      make("input", {class: "wide", id: `seat${place}`, list: "agents", value: place ? wanted.get("agent") || known.opponent : "human(name=Me)"}))));
  });
  const begin = guarded(async event => {
    event.preventDefault();
    const taken = [...seats.querySelectorAll("input")].map(input => input.value.trim());
    const {id, keys} = await ask("/api/tables", {game: game.value.trim(), agents: taken});
    sessionStorage.setItem(`links of ${id}`, JSON.stringify(keys));
    location.href = `/table/${id}?key=${Object.values(keys)[0]}`;
  });
  await seat();
  const options = (id, names) => make("datalist", {id}, ...names.map(name => make("option", {value: name})));
  return make("section", {}, make("h2", {}, "Play"), make("form", {onsubmit: begin},
    make("div", {class: "bar"}, make("label", {for: "game"}, "game"), game), ready), options("games", games), options("agents", ["human(name=Ann)", ...agents]));
}

async function replayBox({option}) {
  const runs = (await ask("/api/runs")).filter(run => run.matches), matches = make("ul", {class: "list", id: "matches"});
  const open = guarded(async run => {
    const found = await ask(`/api/runs/${run.split("/").map(encodeURIComponent).join("/")}/matches`);
    matches.replaceChildren(...found.map(match => make("li", {}, make("a", {href: `/match/${match.id}`, title: match.text}, shortNumbers(match.text)))));
  });
  const choice = make("select", {"aria-label": "run", onchange: () => open(choice.value)},
    ...runs.map(run => make("option", {value: run.id}, `${run.kind} · ${run.name} · ${run.matches.toLocaleString("en")} games`)));
  const empty = make("p", {class: "dim"}, "No match is stored yet; play one, or type: ", make("code", {}, `turnier tournament tictactoe random greedy --games 10${option}`));
  if (runs.length) await open(runs[0].id);
  return make("section", {}, make("h2", {}, "Replay"), runs.length ? choice : empty, matches);
}
