// Pages come whole from the server; this sorts tables and replaces the blocks that another page changes.

import {$, charts, drawAll, drop} from "./charts.js";

/** A table that does not fit ends at the edges of a column and of a row: half a cell may read as a whole one.
 * Where that would leave much room empty, as on a phone, long texts are folded, so that numbers stand beside names. */
function endWhole(...wides) {
  const all = wides.map(wide => [wide, wide.querySelector("table.data:not(.runs)")]).filter(([, table]) => table);
  // All tables are measured before any is changed: the browser lays the page out once for each step, not for each table.
  const inTurn = (measure, change) => all.map(one => [one, measure(...one)]).forEach(([[wide], found]) => change(wide, found));
  const end = (wide, table) => {
    const {left} = table.getBoundingClientRect(), ends = [...table.tHead.rows[0].cells].map(cell => cell.getBoundingClientRect().right - left);
    return Math.max(0, ...ends.filter(right => right <= wide.clientWidth));
  };
  const over = (wide, table) => table.offsetWidth > wide.clientWidth;
  for (const [wide] of all) { wide.style.width = wide.style.maxHeight = ""; wide.classList.remove("tight", "folded"); }
  inTurn(over, (wide, is) => { if (is) wide.classList.add("tight"); });
  inTurn((wide, table) => over(wide, table) && end(wide, table) < .75 * wide.clientWidth, (wide, is) => { if (is) wide.classList.add("folded"); });
  inTurn((wide, table) => [over(wide, table), end(wide, table) + wide.offsetWidth - wide.clientWidth, end(wide, table)], (wide, [cut, width, any]) => {
    if (cut && any) wide.style.width = `${width}px`;
    wide.classList.toggle("cut", cut);
  });
  inTurn(lastWhole, (wide, bottom) => { if (bottom) wide.style.maxHeight = `${bottom + wide.offsetHeight - wide.clientHeight}px`; });
}
const endAllWhole = () => endWhole(...$(".wide"));

/** The lower edge of the last row that is fully visible, in px; 0 if all are. */
function lastWhole(wide, table) {
  const high = wide.clientHeight, {top} = table.getBoundingClientRect();
  let last = 0;
  if (table.offsetHeight <= high) return 0;
  for (const row of table.tBodies[0].rows) {
    const bottom = row.getBoundingClientRect().bottom - top;
    if (bottom > high) break;
    last = bottom;
  }
  return last;
}
addEventListener("resize", endAllWhole);

// Other addresses: only the blocks that differ are replaced, and the script of charts stays.

let latest = 0;
/** Shows an address; `stays`: it is the one that is shown already, so what its reader has typed and chosen stays. */
async function renew(address, stays) {
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
  const goOn = holdFocus(main);
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
        if (stays) keepChoices(known, kept);
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
  $("input[type=search]").filter(input => input.value || input.dataset.find).forEach(find);
  markNew();
  goOn();
  main.dataset.live = wanted.dataset.live || "";
  listen(main.dataset.live);
}

/** What an element of a block is in another version of the block. */
function same(one, block, other) {
  const called = each => each.id || each.getAttribute("href") || each.name && each.name + each.getAttribute("value") || each.ariaLabel || each.textContent;
  const alike = within => $(one.tagName, within).filter(each => called(each) === called(one));
  return alike(other)[alike(block).indexOf(one)];
}

/** Keeps what the reader has changed: the rest is as the server says. */
function keepChoices(known, renewed) {
  const isChanged = one => one.type === "checkbox" ? one.checked !== one.defaultChecked : one.tagName !== "INPUT" || one.value !== one.defaultValue;
  for (const one of $("input:not([type=hidden]), select, details", known).filter(isChanged)) {
    const other = same(one, known, renewed);
    if (!other) continue;
    if (one.tagName === "DETAILS") other.open = one.open;
    else if (one.type === "checkbox") other.checked = one.checked;
    else other.value = one.value;
  }
}

/** Returns a function that gives the focus back after blocks have been renewed, at the same place of the window. */
function holdFocus(main) {
  const focused = document.activeElement, block = focused.closest(".block");
  if (!block || !main.contains(block)) return () => {};
  const {top, bottom} = focused.getBoundingClientRect(), range = [focused.selectionStart, focused.selectionEnd];
  return () => {
    const renewed = $(".block", main).find(one => one.dataset.key === block.dataset.key);
    const now = focused.isConnected ? focused : renewed && same(focused, block, renewed);
    if (!now) return;
    if (now !== focused) now.focus({preventScroll: true});
    if (now !== focused && now.type === "search") now.setSelectionRange(...range);
    if (bottom > 0 && top < innerHeight) scrollBy(0, now.getBoundingClientRect().top - top);
  };
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
    while (missed) { missed = false; await renew(location.pathname + location.search, true); }
  } catch { /* the server is away; the browser connects again */ }
  under = false;
}

charts.go = go;
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
