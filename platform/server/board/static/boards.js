// Boards as coded by the server: all elements, and the numbers of each board's elements.

const SVG = "http://www.w3.org/2000/svg";

export class Boards {
  constructor(elements, coded) {
    this.elements = elements;
    let last = [];
    this.numbers = coded.map(board => {
      if (board.all) return (last = board.all);
      last = last.slice();
      for (let i = 0; i < board.set.length; i += 2) last[board.set[i]] = board.set[i + 1];
      return last;
    });
  }

  get length() { return this.numbers.length; }

  svg(place) { return this.numbers[place].map(part => this.elements[part]).join("") + "</svg>"; }
}

/** Writes a few characters into cells, where nothing lies: {cell: text}. */
export function annotate(board, notes) {
  const drawing = board.querySelector("svg");
  for (const [cell, text] of Object.entries(notes)) {
    const shape = drawing.querySelector(`[data-cell="${cell}"]`);
    if (!shape) continue;
    const box = shape.getBBox(), note = document.createElementNS(SVG, "text");
    note.setAttribute("x", box.x + box.width / 2);
    note.setAttribute("y", box.y + box.height / 2 + 0.1);
    note.setAttribute("font-size", "0.3");
    note.setAttribute("text-anchor", "middle");
    note.setAttribute("fill", "#444");
    note.textContent = text;
    drawing.append(note);
  }
}
