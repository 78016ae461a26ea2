// Charts, drawn by Vega in the order in which they are seen.

export const $ = (selector, within = document) => [...within.querySelectorAll(selector)];
export const charts = {go: address => { location.href = address; }};  // how a click leaves for another page
const dark = matchMedia("(prefers-color-scheme: dark)");

// Vega is asked for by the first page that has a chart.

let vega;
function loaded() {
  vega ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, {src: "/site/vega.js", onload: () => resolve(window.vegaEmbed), onerror: () => reject(new Error("the script of charts did not load; reload the page."))});
    document.head.append(script);
  });
  return vega;
}

const LIGHT = "#e8e8e8";
const ON_DARK = new Map([["#000000", LIGHT], ["#222", LIGHT], ["#444", LIGHT], ["#555", LIGHT],
  ["#0068A8", "#56a8e0"], ["#C38500", "#e69f00"], ["#009E73", "#2fbf95"], ["#BE4400", "#f08040"], ["#CC79A7", "#dd94bd"], ["#3A97D3", "#8fd0f2"], ["#808080", "#a8a8a8"]]);

/** A specification for a dark page: transparent, lighter colours, light ink; text on coloured cells stays. */
function onDark(spec) {
  const relit = (part, key) => Array.isArray(part) ? part.map(one => relit(one)) :
    part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([name, value]) => [name, name === "data" || name === "datasets" ? value : relit(value, name)])) :
    key === "opacity" && part > 0.4 ? Math.min(1, 1.7 * part) : ON_DARK.get(part) ?? part;
  const lit = relit(spec), ink = {labelColor: LIGHT, titleColor: LIGHT}, look = lit.config;
  for (const {mark, encoding} of lit.layer || []) {  // thin lines need colours far from the page's
    const scale = mark?.type === "line" && encoding?.color?.scale;
    if (scale?.scheme) scale.scheme = {name: scale.scheme.name ?? scale.scheme, extent: [0.45, 1]};
  }
  lit.config = {...look, background: "transparent", text: {color: LIGHT},
    axis: {...look.axis, ...ink, gridColor: "#3d3d3d", domainColor: "#8c8c8c", tickColor: "#8c8c8c"},
    legend: {...look.legend, ...ink}, title: {...look.title, color: LIGHT}};
  return lit;
}

/** A specification for a phone: legends with long names have one column, and slanted labels room beside each other. */
function onPhone(part) {
  if (!part || typeof part !== "object") return;
  if (part.legend?.columns && part.scale?.domain?.some?.(name => String(name).length > 16)) part.legend.columns = 1;
  if (part.labelAngle < 0) part.labelAngle = -70;
  for (const [name, value] of Object.entries(part)) if (name !== "data" && name !== "datasets") onPhone(value);
}

const views = new WeakMap();
/** Removes a block; its charts no longer follow the size of the window. */
export function drop(block, other) {
  $("figure.chart", block).forEach(figure => views.get(figure)?.finalize());
  if (other) block.replaceWith(other); else block.remove();
}

/** What a chart shows, for this window, as Vega-Lite. */
function specOf(figure) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  if (innerWidth < 640) onPhone(spec);
  spec.padding = {left: 10, top: 10, right: 22, bottom: 10};  // right: half of an axis' last number
  spec.config.aria = false;  // the figure says what it shows; a text for every mark took a quarter of the time
  return dark.matches ? onDark(spec) : spec;
}

async function draw(figure) {
  const place = figure.querySelector(".plot"), spec = specOf(figure), told = place.ariaLabel;
  const one = await (await loaded())(place, {...spec, width: "container", autosize: {type: "fit-x", contains: "padding"}}, {actions: false, ast: true, renderer: "svg", logLevel: 1, tooltip: {theme: dark.matches ? "dark" : "light"}});
  place.style.minHeight = "";  // the room reserved for it
  place.ariaLabel = told;  // which Vega has replaced by "Vega visualization"
  views.get(figure)?.finalize();
  views.set(figure, one);
  figure.dataset.drawn = "yes";
  figure.dataset.rows = rowsOf(spec);
  const halves = figure.matches(".block.half > *") ? $(".block.half > figure.chart[data-drawn=yes]") : [];
  if (halves.some(other => other.dataset.rows > 0)) halves.filter(other => beside(figure, other)).forEach(stretch);
  if (figure.dataset.cells) one.view.addEventListener("click", (_, item) => chosen(figure.dataset, item));
}

/** A click on a mark shows the games of its agent or candidate, or opens a panel with what is behind it. */
function chosen({cells, to}, item) {
  const fields = cells.split(" "), from = item?.mark.role === "mark" && item.datum;
  if (!from || !fields.every(field => field in from) || ["line", "area"].includes(item.mark.marktype)) return;
  document.getElementById("vg-tooltip-element")?.classList.remove("visible");
  const plain = field => String(from[field]).replaceAll("\n", "").replace(/^\d+  /, "");  // without breaks of long names, and places before them
  if (to !== undefined) {
    const address = to ? to + encodeURIComponent(plain(fields[0])) : from[fields[0]];
    if (address) location.href = new URL(address, location.origin).pathname + new URL(address, location.origin).search;
    return;
  }
  const words = new URLSearchParams(location.search);
  for (const field of fields) words.set(field, plain(field));
  charts.go(`${location.pathname}?${words}`);
}

/** Whether two charts stand side by side, or are the same. */
const beside = (one, other) => one.getBoundingClientRect().top === other.getBoundingClientRect().top;

/** The number of rows of a chart, such as one of each agent; 0 if its height has a scale. */
function rowsOf(spec) {
  const {y} = (spec.layer?.[0] ?? spec).encoding ?? {};
  return ["nominal", "ordinal"].includes(y?.type) && Array.isArray(y.sort) ? y.sort.length : 0;
}

const MOST = 64;  // px of a row
/** Spreads the rows of a chart over the room that the chart beside it leaves. */
function stretch(figure) {
  const {view} = views.get(figure), rows = Number(figure.dataset.rows), note = figure.querySelector("figcaption");
  const room = note.getBoundingClientRect().top - figure.querySelector(".plot").getBoundingClientRect().bottom - 10;
  const high = Math.min(view.height() + room, MOST * rows);
  if (rows && high > view.height() + 10) view.height(high).runAsync().then(() => requestIdleCallback(() => keep(figure)));
}

/** Charts are drawn one at a time, and each is shown before the next is drawn: those in the window first; those outside
 * it, and those of which a picture is shown, when the page is idle. */
const waiting = new Set();
let drawing = false;
async function drawWaiting() {
  if (drawing) return;
  drawing = true;
  for (let idle = false; waiting.size;) {
    const [[figure, away]] = [...waiting].map(one => [one, distance(one) + (one.dataset.drawn ? 1e6 : 0)]).sort(([, one], [, other]) => one - other);
    if (away > 0 && !idle) { idle = await new Promise(done => requestIdleCallback(() => done(true), {timeout: 500})); continue; }
    idle = false;
    waiting.delete(figure);
    if (!figure.isConnected) continue;
    await draw(figure).catch(failure => tell(figure, failure));
    requestIdleCallback(() => keep(figure));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  }
  drawing = false;
}

// Pictures of charts are kept for this tab, so that a page opened again is complete at once; Vega follows.

/** The name of a chart's picture: what it shows, its width and its colours. */
function nameOf(figure) {
  const {hash} = figure.closest(".block").dataset, title = figure.querySelector("h2").textContent;
  return `chart ${hash} ${title} ${figure.querySelector(".plot").clientWidth} ${innerWidth < 640} ${dark.matches}`;
}

function keep(figure) {
  const picture = figure.dataset.drawn === "yes" && figure.querySelector(".plot svg")?.outerHTML;
  if (!picture) return;
  try { sessionStorage.setItem(nameOf(figure), picture); } catch {  // it is full
    for (const name of Object.keys(sessionStorage)) if (name.startsWith("chart ")) sessionStorage.removeItem(name);
  }
}

/** A click on a picture waits for the chart itself. */
async function clickLater(event) {
  const figure = event.target.closest("figure.chart[data-drawn=kept]");
  if (!figure?.dataset.cells || !event.target.closest(".role-mark")) return;
  waiting.delete(figure);
  await draw(figure).catch(failure => { figure.dataset.drawn = "no"; tell(figure, failure); });
  const {clientX, clientY} = event, where = {clientX, clientY, bubbles: true};
  const mark = document.elementFromPoint(clientX, clientY);
  for (const kind of ["pointermove", "mousemove", "click"]) mark?.dispatchEvent(new (kind[0] === "p" ? PointerEvent : MouseEvent)(kind, where));
}
document.addEventListener("click", clickLater);

/** Says why a chart is not drawn, unless a picture of it is shown. */
function tell(figure, {message}) {
  if (figure.dataset.drawn === "kept") return;
  figure.querySelector(".plot").textContent = message;
  figure.dataset.drawn = "no";
}

/** How far below or above the window a chart is, in px; at most 0 within it. */
function distance(figure) {
  const {top, bottom} = figure.getBoundingClientRect();
  return Math.max(top - innerHeight, -bottom);
}

const near = new IntersectionObserver(seen => {
  for (const {target, isIntersecting} of seen) if (isIntersecting) { near.unobserve(target); waiting.add(target); }
  drawWaiting();
}, {rootMargin: "1000px"});

/** Each chart reserves about the room that it will take, so that those below the window stay below it. */
export function drawAll(within) {
  const found = $("figure.chart", within).map(figure => [figure, figure.dataset.drawn ? null : sessionStorage.getItem(nameOf(figure))]);
  for (const [figure, picture] of found) {
    const place = figure.querySelector(".plot");
    if (!place.hasChildNodes()) place.style.minHeight ||= `${picture ? /height="([\d.]+)"/.exec(picture)[1] : heightOf(specOf(figure)) + 40}px`;
    near.observe(figure);
  }
  const kept = found.filter(([, picture]) => picture), away = new Set(kept.filter(([figure]) => distance(figure) > 0));
  const show = ([figure, picture]) => {
    if (figure.dataset.drawn) return;
    const place = figure.querySelector(".plot");
    place.innerHTML = picture;
    place.style.minHeight = "";
    figure.dataset.drawn = "kept";
  };
  kept.filter(one => !away.has(one)).forEach(show);
  if (away.size) requestAnimationFrame(() => setTimeout(() => away.forEach(show)));  // once the window is shown
}

/** The height of a chart without its axis, as far as its specification says it. */
function heightOf(spec) {
  return spec.height?.step ? spec.height.step * rowsOf(spec) : Number(spec.height) || 200;
}

dark.addEventListener("change", () => drawAll(document));
