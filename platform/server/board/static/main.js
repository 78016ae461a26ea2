// Chooses the view by the address.

import {get, trouble} from "/static/page.js";

const views = [
  [/^\/match\/([^/]+)$/, () => import("/static/replay.js")],
  [/^\/table\/([^/]+)$/, () => import("/static/table.js")],
  [/^\/analyse$/, () => import("/static/analyse.js")],
  [/^\/(play)?$/, () => import("/static/home.js")],
];

async function show() {
  const [pattern, load] = views.find(([pattern]) => pattern.test(location.pathname)) || views.at(-1);
  const view = await load();
  await view.show(get("main"), ...(location.pathname.match(pattern) || []).slice(1).map(decodeURIComponent));
}

show().catch(failure => {
  get("main").replaceChildren();
  trouble(failure.message);
});
