// A graph over the moves of a match: lines that may still grow, and a cursor; a click or drag chooses a move.

import {make, number} from "/static/page.js";

const WIDTH = 600, HEIGHT = 150, TOP = 8, BOTTOM = 16;
const FAR = 2; // spreads of the middle 80 % beyond which values are drawn at the edge
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The ends of an axis that shows most values well: a few that lie far from the others must not flatten them. */
function ends(sorted) {
  const at = share => sorted[Math.round(share * (sorted.length - 1))], spread = at(0.9) - at(0.1);
  if (!spread) return [at(0), at(1)];
  return [Math.max(at(0), at(0.1) - FAR * spread), Math.min(at(1), at(0.9) + FAR * spread)];
}

export class Graph {
  /** `choose` is called with the number of a move. */
  constructor(last, choose, label) {
    this.last = Math.max(1, last);
    this.drawing = shape("svg", {class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label});
    this.ticks = ["top left", "bottom left", "top right", "bottom right"].map(place => make("span", {class: `tick ${place}`}));
    this.framed = make("div", {class: "graphed"}, this.drawing, ...this.ticks,
      make("div", {class: "dim moves-axis"}, make("span", {}, "move 1"), make("span", {}, `move ${last}`)));
    this.lines = new Map();
    this.cursor = shape("line", {class: "now", y1: 0, y2: HEIGHT});
    this.drawing.append(this.cursor);
    const chosen = event => {
      const box = this.drawing.getBoundingClientRect();
      const place = Math.round((event.clientX - box.left) / box.width * this.last);
      choose(Math.min(last, Math.max(0, place)));
    };
    this.drawing.addEventListener("pointerdown", event => {
      this.drawing.setPointerCapture(event.pointerId);
      chosen(event);
    });
    this.drawing.addEventListener("pointermove", event => event.buttons && chosen(event));
  }

  /** Sets the points of a line: [[move, value], ...], in a range of its own if it has one. */
  line(name, points, colour, range, dashed) {
    this.lines.set(name, {points, colour, range, dashed});
  }

  draw(now) {
    const lines = [...this.lines.values()], free = lines.filter(line => !line.range);
    const values = free.flatMap(line => line.points.map(point => point[1])).sort((one, other) => one - other);
    [this.least, this.most] = [values[0], values.at(-1)];
    [this.low, this.high] = values.length ? ends(values) : [];
    let under = free.length; // earlier lines are wider, so that those of the same values are all seen
    const parts = lines.map(({points, colour, range, dashed}) => {
      const [from, to] = range || [this.low, this.high], span = to - from || 1;
      const height = value => TOP + (to - Math.min(to, Math.max(from, value))) / span * (HEIGHT - TOP - BOTTOM);
      const at = ([move, value]) => `${(move / this.last * WIDTH).toFixed(1)},${height(value).toFixed(1)}`;
      const width = range ? "" : `; stroke-width: ${0.2 + 1.4 * under--}`;
      return shape("polyline", {points: points.map(at).join(" "), style: `stroke: ${colour}${width}`, ...(dashed ? {"stroke-dasharray": "4 3"} : {})});
    });
    const right = this.lines.get("score 0")?.range || [], texts = [this.high, this.low, right[1], right[0]];
    this.ticks.forEach((tick, place) => { tick.textContent = texts[place] === undefined ? "" : number(texts[place]); });
    this.drawing.replaceChildren(shape("line", {class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM}), ...parts, this.cursor);
    this.point(now);
  }

  point(now) {
    const x = now / this.last * WIDTH;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
  }
}
