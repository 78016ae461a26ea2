// A graph over the moves of a match: lines that may still grow, and a cursor; a click or drag chooses a move.

const WIDTH = 600, HEIGHT = 150, TOP = 8, BOTTOM = 16;
const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export class Graph {
  /** `choose` is called with the number of a move. */
  constructor(last, choose, label) {
    this.last = Math.max(1, last);
    this.drawing = shape("svg", {class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label});
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
    const lines = [...this.lines.values()], free = lines.filter(line => !line.range).flatMap(line => line.points.map(p => p[1]));
    // A long list must not be spread over arguments: engines take only some ten thousand.
    const low = free.reduce((least, value) => Math.min(least, value), Infinity);
    const high = free.reduce((most, value) => Math.max(most, value), -Infinity);
    const parts = lines.map(({points, colour, range, dashed}) => {
      const [from, to] = range || [low, high], span = to - from || 1;
      const at = ([move, value]) => `${(move / this.last * WIDTH).toFixed(1)},${(TOP + (to - value) / span * (HEIGHT - TOP - BOTTOM)).toFixed(1)}`;
      return shape("polyline", {points: points.map(at).join(" "), style: `stroke: ${colour}`, ...(dashed ? {"stroke-dasharray": "4 3"} : {})});
    });
    this.low = low;
    this.high = high;
    this.drawing.replaceChildren(shape("line", {class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM}), ...parts, this.cursor);
    this.point(now);
  }

  point(now) {
    const x = now / this.last * WIDTH;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
  }
}
