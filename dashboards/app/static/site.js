// Pages come whole from the server; this draws charts, sorts tables, and replaces the blocks that another page changes.

const $ = (selector, within = document) => [...within.querySelectorAll(selector)];
const dark = matchMedia("(prefers-color-scheme: dark)");

// Charts. Vega is asked for by the first page that has one.

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
function drop(block, other) {
  $("figure.chart", block).forEach(figure => views.get(figure)?.finalize());
  if (other) block.replaceWith(other); else block.remove();
}

/** What a chart shows, for this window, as Vega-Lite. */
function specOf(figure) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  if (innerWidth < 640) onPhone(spec);
  spec.padding = {left: 10, top: 10, right: 22, bottom: 10};  // right: half of an axis' last number
  spec.config.aria = false;  // the figure says what it shows; a text for every mark would take half of the time
  return dark.matches ? onDark(spec) : spec;
}

async function draw(figure) {
  const place = figure.querySelector(".plot"), spec = specOf(figure), told = place.ariaLabel;
  const one = await (await loaded())(place, {...spec, width: "container", autosize: {type: "fit-x", contains: "padding"}}, {actions: false, ast: true, renderer: "svg", logLevel: 1, tooltip: {theme: dark.matches ? "dark" : "light"}});
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
  go(`${location.pathname}?${words}`);
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
  if (rows && high > view.height() + 10) view.height(high).runAsync();
}

/** Charts are drawn one at a time and each is seen before the next: those in the window first, others while nothing else
 * is to do. */
const waiting = new Set();
let drawing = false;
async function drawWaiting() {
  if (drawing) return;
  drawing = true;
  for (let idle = false; waiting.size;) {
    const [[figure, away]] = [...waiting].map(one => [one, distance(one)]).sort(([, one], [, other]) => one - other);
    if (away > 0 && !idle) { idle = await new Promise(done => requestIdleCallback(() => done(true), {timeout: 500})); continue; }
    idle = false;
    waiting.delete(figure);
    if (!figure.isConnected) continue;
    await draw(figure).catch(failure => { figure.querySelector(".plot").textContent = failure.message; figure.dataset.drawn = "no"; });
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  }
  drawing = false;
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

/** Charts keep about the room that they will take, so that those below the window are known to be there. */
function drawAll(within) {
  for (const figure of $("figure.chart", within)) {
    const place = figure.querySelector(".plot");
    if (!place.hasChildNodes()) place.style.minHeight ||= `${heightOf(specOf(figure)) + 40}px`;
    near.observe(figure);
  }
}

/** The height of a chart without its axis, as far as its specification says it. */
function heightOf(spec) {
  return spec.height?.step ? spec.height.step * rowsOf(spec) : Number(spec.height) || 200;
}

/** A table that does not fit ends at the edges of a column and of a row: half a cell may read as a whole one.
 * Where that would leave much room empty, as on a phone, long texts are folded, so that numbers stand beside names. */
function endWhole(wide) {
  const table = wide.querySelector("table.data:not(.runs)");
  if (!table) return;
  wide.style.width = wide.style.maxHeight = "";
  wide.classList.remove("tight", "folded");
  const room = wide.clientWidth;
  if (table.offsetWidth > room) wide.classList.add("tight");
  const {left, top} = table.getBoundingClientRect();
  const end = () => Math.max(0, ...[...table.tHead.rows[0].cells].map(cell => cell.getBoundingClientRect().right - left).filter(right => right <= room));
  if (table.offsetWidth > room && end() < .75 * room) wide.classList.add("folded");
  const cut = table.offsetWidth > room;
  if (cut && end()) wide.style.width = `${end() + wide.offsetWidth - room}px`;
  wide.classList.toggle("cut", cut);
  const high = wide.clientHeight;
  if (table.offsetHeight > high) {
    const ends = [...table.tBodies[0].rows].map(row => row.getBoundingClientRect().bottom - top).filter(end => end <= high);
    if (ends.length) wide.style.maxHeight = `${Math.max(...ends) + wide.offsetHeight - high}px`;
  }
}
const endAllWhole = () => $(".wide").forEach(endWhole);
addEventListener("resize", endAllWhole);
dark.addEventListener("change", () => drawAll(document));

// Other addresses: only the blocks that differ are replaced, and the script of charts stays.

let latest = 0;
async function renew(address) {
  const asked = ++latest, answer = await fetch(address, {cache: "no-store"});
  if (asked !== latest) return;
  if (answer.redirected) history.replaceState(null, "", answer.url);
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.getElementById("main"), wanted = found.getElementById("main");
  if (!main || !wanted) { location.href = address; return; }
  document.title = found.title;
  for (const place of ["header", ".title"]) {
    const head = document.querySelector(place), other = found.querySelector(place);
    if (!head || !other || head.innerHTML === other.innerHTML) continue;
    const chose = !!head.querySelector("nav a:focus");
    head.innerHTML = other.innerHTML;
    if (chose) head.querySelector("nav a[aria-current]")?.focus();
  }
  const present = new Map($(".block", main).map(block => [block.dataset.key, block]));
  let before = null;
  for (const block of $(".block", wanted)) {
    const known = present.get(block.dataset.key);
    present.delete(block.dataset.key);
    let kept = known;
    if (!known || known.dataset.hash !== block.dataset.hash || known.className !== block.className) {
      kept = document.adoptNode(block);
      if (known) {
        const plot = known.querySelector(".plot");
        if (plot && kept.querySelector(".plot")) kept.querySelector(".plot").style.minHeight = `${plot.offsetHeight}px`;
        $("table.data", known).forEach((table, place) => keepOrder(table, $("table.data", kept)[place]));
        drop(known, kept);
      }
      drawAll(kept);
    }
    const after = before ? before.nextSibling : main.firstChild;
    if (after !== kept) main.insertBefore(kept, after);
    before = kept;
  }
  present.forEach(block => drop(block));
  besidePanel();
  endAllWhole();
  $("input[data-find]").forEach(find);
  markNew();
  main.dataset.live = wanted.dataset.live || "";
  listen(main.dataset.live);
}

/** Charts take the width that a panel leaves them. */
function besidePanel() {
  const before = document.body.classList.contains("with-panel"), now = !!document.querySelector(".panel");
  document.body.classList.toggle("with-panel", now);
  if (before !== now) dispatchEvent(new Event("resize"));
}

/** Whether this script shows the page of a link: a list, a run, or runs side by side, but no file. */
function isOurs(link) {
  return link.origin === location.origin && !link.hasAttribute("download") && /^\/($|runs\b|league\b|compare\b)/.test(link.pathname);
}

/** News that comes while news is fetched is fetched after it: pages may take longer than news. */
let under = false, missed = false;
async function news() {
  missed = true;
  if (under) return;
  under = true;
  try {
    while (missed) { missed = false; await renew(location.pathname + location.search); }
  } catch { /* the server is away; the browser connects again */ }
  under = false;
}

async function go(address, top) {
  history.replaceState({top: scrollY}, "");
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  await arrive(address, top);
}
async function arrive(address, top) {
  const main = document.getElementById("main");
  main.setAttribute("aria-busy", "true");
  source?.close();  // news of the page that is left must not come in between
  source = null;
  try { await renew(address); } catch { location.href = address; return; }
  main.removeAttribute("aria-busy");
  if (top !== undefined) scrollTo(0, top);
}
addEventListener("popstate", event => {
  if (event.state || !location.hash) arrive(location.pathname + location.search, event.state?.top);
});

document.addEventListener("change", event => {
  const form = event.target.closest("form[data-choice]");
  if (!form || event.target.type === "search" && !event.target.name) return;
  const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  go(form.getAttribute("action") + (words.size ? `?${words}` : ""));
});

document.addEventListener("click", event => {
  const link = event.target.closest("a[href]");
  if (link && isOurs(link) && !link.hash && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    go(link.pathname + link.search, "stay" in link.dataset ? undefined : 0);
    return;
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = copy.dataset.copy, said = text ? ["copied", "not copied", ""] : ["Copied", "Select it", "Copy"];
    const say = which => { copy.textContent = said[which]; };
    navigator.clipboard.writeText(text || copy.parentElement.querySelector("pre").textContent).then(() => say(0), () => say(1));
    setTimeout(() => say(2), 1500);
    return;
  }
  const sort = event.target.closest("[data-sort]");
  if (sort) { event.preventDefault(); sortBy(sort); }
});

addEventListener("keydown", event => {
  const close = document.querySelector(".panel .close");
  if (event.key === "Escape" && close) go(close.getAttribute("href"));
});

// Tables.

function sortBy(button) {
  const head = button.closest("th"), place = head.cellIndex, table = button.closest("table");
  const up = head.getAttribute("aria-sort") === "descending";
  $("th", table).forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = row => {
    const cell = row.cells[place];
    return cell.dataset.number !== undefined ? Number(cell.dataset.number) : cell.textContent.trim();
  };
  const order = (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === "" || b === "") return (a === "") - (b === "");
    const sign = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
    return up ? sign : -sign;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  endWhole(table.closest(".wide"));
}

/** A renewed table keeps the order that its reader chose. */
function keepOrder(table, renewed) {
  const chosen = table.querySelector("th[aria-sort]");
  if (!chosen || !renewed) return;
  const head = renewed.tHead.rows[0].cells[chosen.cellIndex], button = head?.querySelector("[data-sort]");
  if (!button) return;
  head.setAttribute("aria-sort", chosen.getAttribute("aria-sort") === "descending" ? "ascending" : "descending");
  sortBy(button);
}

function find(input) {
  const wanted = input.value.trim().toLowerCase();
  const rows = input.dataset.find ? $(input.dataset.find) : $("tbody tr", input.closest(".block"));
  let left = 0;
  for (const row of rows) left += !(row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted));
  const wide = rows[0]?.closest(".wide");
  wide?.toggleAttribute("data-none", !left);
  if (wide) endWhole(wide);
}
document.addEventListener("input", event => { if (event.target.type === "search") find(event.target); });

// News. A page that nothing can change does not listen; a hidden one asks when it is seen again.

let source, heard = "";
function listen(address) {
  if (address === heard && source) return;
  source?.close();
  source = null;
  heard = address;
  if (!address || document.hidden) return;
  source = new EventSource(address);
  source.addEventListener("news", news);
  source.addEventListener("open", () => setTimeout(news, 2000));  // what came between this page and its first news
  source.addEventListener("refused", () => { source?.close(); source = null; });
}
document.addEventListener("visibilitychange", () => {
  const address = document.getElementById("main")?.dataset.live || "";
  if (document.hidden) { source?.close(); source = null; return; }
  if (address) { listen(address); news(); }
});

// What ended since the last visit.

const last = localStorage.getItem("visited") || "";
function markNew() {
  $("tr[data-ended]").forEach(row => { if (last && row.dataset.ended > last) row.classList.add("new"); });
  if (document.getElementById("runs")) localStorage.setItem("visited", new Date().toISOString().replace("Z", "+00:00"));
}

drawAll(document);
markNew();
besidePanel();
endAllWhole();
listen(document.getElementById("main")?.dataset.live || "");
