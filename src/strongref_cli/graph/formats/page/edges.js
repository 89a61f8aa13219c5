"use strict";

/* How references are drawn: curves between columns, and straight lines in the free space above a row.

An edge is {from, to, marks, related, faded, count}; `from` and `to` are elements with a column. */

const RIGHT = 1, LEFT = -1;
const MOST_LABELS = 40, MANY_EDGES = 150;

function drawEdges(svg, canvas, columns, edges) {
  const origin = canvas.getBoundingClientRect();
  const em = parseFloat(getComputedStyle(canvas).fontSize);
  const areas = new Map();
  for (const element of [...columns, ...edges.flatMap((edge) => [edge.from, edge.to])]) {
    if (areas.has(element)) continue;
    const area = element.getBoundingClientRect();
    const top = area.top - origin.top, left = area.left - origin.left;
    areas.set(element, {left, top, right: left + area.width, bottom: top + area.height, middle: top + area.height / 2,
      column: Number(element.dataset.column)});
  }
  const gutters = columns.map((column) => areas.get(column));
  const ports = portsOf(edges, areas, em);
  const isMany = edges.filter((edge) => edge.marks.length).length > MOST_LABELS;
  svg.classList.toggle("many", edges.length > MANY_EDGES);
  const labels = [];
  const tracks = new Map();
  const texts = [...edges].sort((a, b) => a.related - b.related).map((edge) => {
    const route = routeOf(edge, areas.get(edge.from), areas.get(edge.to), ports.get(edge), gutters, tracks, em);
    return edgeText(edge, route, isMany && !edge.related ? null : labels, em);
  });
  svg.innerHTML = texts.join(""); /* numbers and words of our own only */
}

/* Where edges leave and reach their boxes: side by side, in the order of where they come from and go to. */
function portsOf(edges, areas, em) {
  const ports = new Map(edges.map((edge) => [edge, {}]));
  const sides = new Map();
  for (const edge of edges) {
    const from = areas.get(edge.from), to = areas.get(edge.to);
    const comesFrom = to.column > from.column + 1 ? to.top : from.middle; /* from the space above its row */
    addTo(sides, edge.from, RIGHT, {edge, end: "start", other: to.middle});
    addTo(sides, edge.to, to.column <= from.column ? RIGHT : LEFT, {edge, end: "end", other: comesFrom});
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

function addTo(sides, element, side, end) {
  if (!sides.has(element)) sides.set(element, {});
  const bySide = sides.get(element);
  (bySide[side] ||= []).push(end);
}

function routeOf(edge, from, to, port, columns, tracks, em) {
  const x1 = from.right, y1 = port.start, y2 = port.end, tip = 0.5 * em;
  if (to.column <= from.column) {
    const out = Math.max(from.right, to.right) + Math.min(4 * em, 1.6 * em + Math.abs(y2 - y1) / 6);
    const x2 = to.right;
    return {d: `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2 + tip} ${y2}`, x2, y2, side: LEFT,
      labelX: x1 + (out - x1) * 0.75, labelY: [(y1 + y2) / 2, y1 * 0.6 + y2 * 0.4, y1 * 0.4 + y2 * 0.6]};
  }
  const x2 = to.left;
  const last = columns[to.column - 2].right; /* the last gutter before the box */
  const middle = (last + x2) / 2;
  const between = (ya, yb) => [0.5, 0.35, 0.65, 0.2, 0.8].map((part) => ya + (yb - ya) * part);
  if (to.column === from.column + 1) {
    const half = (x1 + x2 - tip) / 2;
    return {d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2 - tip} ${y2}`, x2, y2, side: RIGHT, labelX: middle, labelY: between(y1, y2)};
  }
  /* Across columns in the space above the box's row, where no box stands. */
  const first = columns[from.column].left;
  const row = Math.round(to.top), turn = tracks.get(row) || 0;
  tracks.set(row, turn + 1);
  const track = to.top - 0.52 * em + ((turn * 2) % 5 - 2) * 0.17 * em;
  const half = (x1 + first) / 2;
  return {d: `M${x1} ${y1}C${half} ${y1} ${half} ${track} ${first} ${track}H${last}C${middle} ${track} ${middle} ${y2} ${x2 - tip} ${y2}`,
    x2, y2, side: RIGHT, labelX: half, labelY: between(y1, track)};
}

function edgeText(edge, {d, x2, y2, side, labelX, labelY}, labels, em) {
  const kinds = [...edge.marks, ...["related", "faded"].filter((kind) => edge[kind])];
  const back = x2 - side * 0.62 * em, wing = 0.3 * em;
  const width = edge.count > 1 ? ` stroke-width="${Math.min(1.4 + Math.log2(edge.count) * 0.7, 5)}"` : "";
  const [word] = edge.marks;
  const label = word ? labelText(word, labelX, labelY, labels, em, edge) : "";
  return `<g class="${["edge", ...kinds].join(" ")}"${word ? " data-marked" : ""} data-ends="${nameOf(edge.from)} ${nameOf(edge.to)}"><path d="${d}"${width}/>` +
    `<polygon points="${x2},${y2} ${back},${y2 - wing} ${back},${y2 + wing}"/>${label}</g>`;
}

function nameOf({id, dataset}) {
  return id || dataset.name;
}

/* A word at the first place along the edge where no other word is; without one, the dashes have to do. */
function labelText(word, x, heights, labels, em, edge) {
  if (edge.faded || !labels) return "";
  const width = word.length * 0.44 * em, height = 0.9 * em;
  const y = heights.find((each) => labels.every((other) => Math.abs(other.x - x) > (other.width + width) / 2 || Math.abs(other.y - each) > height));
  if (y === undefined) return "";
  labels.push({x, y, width});
  return `<text x="${x}" y="${y + 0.28 * em}">${word}</text>`;
}
