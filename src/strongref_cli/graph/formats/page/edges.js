"use strict";

/* How references are drawn: curves between columns, and straight lines in the free space above a row.

An edge is {from, to, marks, word, related, faded, count}; `from` and `to` are elements with a column.
Its word is written at the first place along it that is free of `obstacles` and of other words. */

const RIGHT = 1, LEFT = -1;
const MANY_EDGES = 150;

function drawEdges(svg, canvas, columns, obstacles, edges) {
  const origin = canvas.getBoundingClientRect();
  const em = parseFloat(getComputedStyle(canvas).fontSize);
  const areas = new Map();
  for (const element of [...columns, ...obstacles]) {
    const area = element.getBoundingClientRect();
    const top = area.top - origin.top, left = area.left - origin.left;
    areas.set(element, {left, top, right: left + area.width, bottom: top + area.height, middle: top + area.height / 2,
      column: Number(element.dataset.column)});
  }
  const gutters = columns.map((column) => areas.get(column));
  const ports = portsOf(edges, areas, em);
  svg.classList.toggle("many", edges.length > MANY_EDGES);
  const taken = [...obstacles.map((element) => areas.get(element)), {left: origin.width, right: Infinity, top: 0, bottom: Infinity}];
  const widths = widthsOf(new Set(edges.map((edge) => edge.word)), svg);
  const tracks = new Map();
  const lines = [], labels = [];
  for (const edge of [...edges].sort((a, b) => a.related - b.related)) {
    const route = routeOf(edge, areas.get(edge.from), areas.get(edge.to), ports.get(edge), gutters, tracks, em);
    lines.push(edgeText(edge, route, em));
    labels.push(labelText(edge, route.places, widths, taken, em));
  }
  svg.innerHTML = [...lines, ...labels].join(""); /* numbers and words of our own only */
}

/* Where edges leave and reach their boxes: side by side, in the order of where they come from and go to. */
function portsOf(edges, areas, em) {
  const ports = new Map(edges.map((edge) => [edge, {}]));
  const sides = new Map(edges.flatMap(({from, to}) => [from, to]).map((element) => [element, {[RIGHT]: [], [LEFT]: []}]));
  for (const edge of edges) {
    const from = areas.get(edge.from), to = areas.get(edge.to);
    const comesFrom = to.column > from.column + 1 ? to.top : from.middle; /* from the space above its row */
    sides.get(edge.from)[RIGHT].push({edge, end: "start", other: to.middle});
    sides.get(edge.to)[to.column <= from.column ? RIGHT : LEFT].push({edge, end: "end", other: comesFrom});
  }
  for (const [element, bySide] of sides) {
    const area = areas.get(element);
    for (const ends of Object.values(bySide)) {
      ends.sort((a, b) => a.other - b.other);
      const step = Math.min(0.75 * em, (area.bottom - area.top - em) / ends.length);
      ends.forEach((each, at) => { ports.get(each.edge)[each.end] = area.middle + (at - (ends.length - 1) / 2) * step; });
    }
  }
  return ports;
}

function routeOf(edge, from, to, port, columns, tracks, em) {
  const x1 = from.right, y1 = port.start, y2 = port.end, tip = 0.5 * em;
  if (to.column <= from.column) {
    const room = (columns.at(-1).right + columns[0].left - x1) / 0.8; /* of which the curve takes three quarters */
    const out = x1 + Math.min(4 * em, 1.6 * em + Math.abs(y2 - y1) / 6, room);
    const x2 = to.right;
    return {d: `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2 + tip} ${y2}`, x2, y2, side: LEFT,
      places: along(x1, y1, out, x2 + tip, y2)};
  }
  const x2 = to.left;
  const last = columns[to.column - 2].right; /* the last gutter before the box */
  const middle = (last + x2) / 2;
  if (to.column === from.column + 1) {
    const half = (x1 + x2 - tip) / 2;
    return {d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2 - tip} ${y2}`, x2, y2, side: RIGHT, places: along(x1, y1, half, x2 - tip, y2)};
  }
  /* Across columns in the space above the box's row, where no box stands. */
  const first = columns[from.column].left;
  const row = Math.round(to.top), turn = tracks.get(row) || 0;
  tracks.set(row, turn + 1);
  const track = to.top - 0.52 * em + ((turn * 2) % 5 - 2) * 0.17 * em;
  const half = (x1 + first) / 2;
  return {d: `M${x1} ${y1}C${half} ${y1} ${half} ${track} ${first} ${track}H${last}C${middle} ${track} ${middle} ${y2} ${x2 - tip} ${y2}`,
    x2, y2, side: RIGHT, places: [...along(x1, y1, half, first, track), ...along(last, track, middle, x2 - tip, y2)]};
}

function edgeText(edge, {d, x2, y2, side}, em) {
  const kinds = [...edge.marks, ...["related", "faded"].filter((kind) => edge[kind])];
  const back = x2 - side * 0.62 * em, wing = 0.3 * em;
  const width = edge.count > 1 ? ` stroke-width="${Math.min(1.4 + Math.log2(edge.count) * 0.7, 5)}"` : "";
  return `<g class="${["edge", ...kinds].join(" ")}"${edge.word ? " data-marked" : ""} data-ends="${nameOf(edge.from)} ${nameOf(edge.to)}"><path d="${d}"${width}/>` +
    `<polygon points="${x2},${y2} ${back},${y2 - wing} ${back},${y2 + wing}"/></g>`;
}

function nameOf({id, dataset}) {
  return id || dataset.name;
}

/* Points of a curve whose two control points are both at the same x; its middle first. */
function along(x1, y1, out, x2, y2) {
  return [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((t) => {
    const [a, b, c] = [(1 - t) ** 3, 3 * t * (1 - t), t ** 3];
    return [a * x1 + b * out + c * x2, y1 + (y2 - y1) * (b * t + c)];
  });
}

function widthsOf(words, svg) {
  svg.innerHTML = [...words].map((word) => `<g class="edge"><text>${word || ""}</text></g>`).join("");
  return new Map([...words].map((word, at) => [word, svg.children[at].firstChild.getComputedTextLength()]));
}

/* A line of space stays between words. Without a free place, the dashes have to do. */
function labelText(edge, places, widths, taken, em) {
  if (edge.faded || !edge.word) return "";
  const width = widths.get(edge.word) / 2 + 0.25 * em;
  for (const [x, y] of places) {
    const area = {left: x - width, right: x + width, top: y - 0.55 * em, bottom: y + 0.55 * em};
    if (taken.some((each) => each.left < area.right && each.right > area.left && each.top < area.bottom && each.bottom > area.top)) continue;
    taken.push({...area, top: area.top - 0.6 * em, bottom: area.bottom + 0.6 * em});
    return `<g class="edge ${edge.marks.join(" ")}" data-marked><text x="${x}" y="${y + 0.28 * em}">${edge.word}</text></g>`;
  }
  return "";
}
