// The start page: what is stored.

import {ask, guarded, make, title} from "/static/page.js";

export async function show(main) {
  title("");
  const runs = await ask("/api/runs");
  const matches = make("ul", {class: "list", id: "matches"});
  const open = guarded(async run => {
    const found = await ask(`/api/runs/${run.split("/").map(encodeURIComponent).join("/")}/matches`);
    matches.replaceChildren(...found.map(match => make("li", {}, make("a", {href: `/match/${match.id}`}, match.text))));
  });
  const choice = make("select", {"aria-label": "run", onchange: () => open(choice.value)},
    ...runs.map(run => make("option", {value: run.id}, `${run.kind} · ${run.name} · ${run.matches.toLocaleString("en")} games`)));
  const empty = make("p", {class: "dim"}, "No match is stored yet; play one, or type: turnier tournament tictactoe random greedy --games 10");
  main.replaceChildren(make("section", {}, make("h2", {}, "Replay"), runs.length ? choice : empty, matches));
  if (runs.length) await open(runs[0].id);
}
