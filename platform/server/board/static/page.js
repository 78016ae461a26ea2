// Shared by all views: elements, requests, numbers as text.

export const get = id => document.getElementById(id);

/** Makes an element: make("button", {class: "main", onclick: f}, "Play", other). */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child != null));
  return made;
}

export function title(text) {
  get("title").textContent = text;
  document.title = text ? `${text} · Turnier board` : "Turnier board";
}

/** Returns the parts of a sentence whose commands stand between backticks. */
export const parts = sentence => sentence.split("`").map((part, place) => place % 2 ? make("code", {}, part) : part);

/** Shows what went wrong, or hides it. */
export function trouble(sentence) {
  get("trouble").replaceChildren(...parts(sentence || ""));
  get("trouble").hidden = !sentence;
}

/** Asks the server; throws Error with its sentence. */
export async function ask(path, sent) {
  const words = sent === undefined ? {} :
    {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(sent)};
  const answer = await fetch(path, {cache: "no-store", ...words});
  const data = await answer.json().catch(() => ({error: `the server answered ${answer.status}.`}));
  if (!answer.ok) throw new Error(data.error);
  return data;
}

/** Shows what an action of the user fails with. */
export const guarded = action => async (...given) => {
  try {
    trouble("");
    return await action(...given);
  } catch (failure) {
    trouble(failure.message);
  }
};

/** The button among some elements that has the focus, while all of them are made anew, or are away. */
export class HeldFocus {
  constructor(...elements) {
    this.elements = elements;
    this.held = null; // its element, place and name
    addEventListener("pointerdown", () => { this.held = null; });
  }

  /** Notes it, before they are made anew. */
  note() {
    const focused = document.activeElement, within = this.elements.find(one => one.contains(focused));
    if (within) this.held = {within, place: [...within.querySelectorAll("button")].indexOf(focused), name: focused.textContent};
    else if (focused !== document.body) this.held = null;
  }

  /** Gives the focus to the one of the same place and name, or of its name, once it is there and enabled again. */
  hold() {
    if (!this.held || document.activeElement !== document.body) return;
    const {within, place, name} = this.held, buttons = [...within.querySelectorAll("button")];
    const same = buttons[place]?.textContent === name ? buttons[place] : buttons.find(one => one.textContent === name);
    same?.focus({preventScroll: true});
  }
}

export const chip = seat => make("span", {class: "chip", style: `background: var(--seat${seat % 6})`}, String(seat));

/** An agent's name that breaks after commas and brackets, with its full text on hover and to copy. */
export function agentName(name, text) {
  const shown = make("span", {class: "who", title: text}, ...name.split(/(?<=[,(])/).flatMap(part => [part, make("wbr")]));
  if (name === text) return [shown];
  const copy = make("button", {class: "copied", "aria-label": "copy the full text", onclick: () => {
    const say = words => { copy.textContent = words; setTimeout(() => { copy.textContent = "copy"; }, 1500); };
    navigator.clipboard.writeText(text).then(() => say("copied"), () => say("not copied"));
  }}, "copy");
  return [shown, copy];
}

/** A text with only the beginning of numbers that only identify, such as seeds. */
export const shortNumbers = text => text.replace(/\d{12,}/g, digits => `${digits.slice(0, 6)}…`);

export function number(value) {
  if (value == null || Number.isNaN(value)) return "–";
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString("en", {maximumFractionDigits: digits, minimumFractionDigits: digits});
}

export const percent = share => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
