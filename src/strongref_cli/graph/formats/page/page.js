/* What the page does: one state, one function that shows it, and the events that change it. */

const $ = (selector) => document.querySelector(selector);
const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const data = JSON.parse($("#data").textContent);
const canvas = $("#canvas"), view = $("#view"), search = $("#search"), details = $("#details");
const boxes = $$(".stack").sort((a, b) => a.dataset.number - b.dataset.number);
const lanes = $$(".lane").map((element) => ({element, fold: $$(".fold", element)[0], boxes: $$(".stack", element), summaries: $$(".summary", element), isWanted: !element.matches(".collapsed")}));
const laneOf = boxes.map((box) => lanes.find((lane) => lane.element === box.closest(".lane")));
const columns = $$(".waves > div");
columns.forEach((element, at) => { element.dataset.column = at + 1; });
const words = data.stacks.map((stack) => `${stack.name} ${stack.account} ${stack.region} ${stack.kind}`.toLowerCase());
const pairs = pairsOf(data);
const neighbors = data.stacks.map(() => new Set());
for (const pair of pairs) {
  neighbors[pair.producer].add(pair.importer);
  neighbors[pair.importer].add(pair.producer);
}

const state = {query: "", selected: null, only: null, zoom: 1, least: 1, matches: null, current: null};

/* References of the same two stacks in several regions are one edge. */
function pairsOf({references, cycles}) {
  const found = new Map();
  for (const {producer, importer, outdated, protection} of references) {
    const name = `${producer} ${importer}`;
    if (!found.has(name)) {
      const cycle = cycles.some(({members}) => members.includes(producer) && members.includes(importer));
      found.set(name, {producer, importer, marks: new Set(cycle ? ["cycle"] : [])});
    }
    const {marks} = found.get(name);
    if (outdated.length) marks.add("outdated");
    if (protection !== "held") marks.add(protection);
  }
  return [...found.values()];
}

function show() {
  const query = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  const isMatch = (number) => query.every((word) => words[number].includes(word));
  const matches = query.length ? new Set([...words.keys()].filter(isMatch)) : null;
  const near = new Set([...matches || []].flatMap((number) => [...neighbors[number]]));
  const isShown = (number) => !matches || matches.has(number) || near.has(number);
  for (const lane of lanes) {
    lane.isOpen = lane.isWanted || matches !== null;
    lane.fold.ariaExpanded = String(lane.isOpen);
    lane.element.classList.toggle("collapsed", !lane.isOpen);
    lane.element.hidden = !lane.boxes.some((box) => isShown(Number(box.dataset.number)));
  }
  boxes.forEach((box, number) => { box.hidden = !isShown(number); });
  for (const account of $$(".account")) account.hidden = $$(".lane", account).every((lane) => lane.hidden);
  $("#found").value = matches ? `${matches.size} of ${boxes.length}` : "";
  mark(matches);
  $("#fold-all").textContent = lanes.some((lane) => lane.isWanted) ? "Collapse all" : "Expand all";
  keepOneTabStop();
  state.matches = matches;
  draw();
}

/* What stands out, and what steps back, because of the search, the selection and the legend. */
function mark(matches) {
  const {selected, only} = state;
  const flagged = new Set(pairs.filter((pair) => only && pair.marks.has(only)).flatMap((pair) => [pair.producer, pair.importer]));
  boxes.forEach((box, number) => {
    const isRelated = selected !== null && neighbors[selected].has(number);
    const isFaded = (only && !flagged.has(number)) || (!matches && selected !== null && !isRelated && number !== selected);
    box.classList.toggle("selected", number === selected);
    box.classList.toggle("related", isRelated);
    box.classList.toggle("faded", Boolean(isFaded));
    box.classList.toggle("match", Boolean(matches?.has(number)));
    box.classList.toggle("near", Boolean(matches && !matches.has(number)));
    box.ariaPressed = String(number === selected);
  });
  for (const button of $$("[data-only]")) button.ariaPressed = String(button.dataset.only === only);
}

function draw() {
  const shown = new Map();
  for (const pair of pairs) {
    const from = standIn(pair.producer), to = standIn(pair.importer);
    if (!from || !to || (from === to && from.classList.contains("summary"))) continue;
    const name = `${nameOf(from)} ${nameOf(to)}`;
    if (!shown.has(name)) shown.set(name, {from, to, count: 0, found: new Set(), related: false, faded: true});
    const edge = shown.get(name), isRelated = pair.producer === state.selected || pair.importer === state.selected;
    edge.count += 1;
    for (const mark of pair.marks) edge.found.add(mark);
    edge.related ||= isRelated;
    const isFound = !state.matches || state.matches.has(pair.producer) || state.matches.has(pair.importer);
    edge.faded &&= !isFound || (state.selected !== null && !isRelated) || (state.only !== null && !pair.marks.has(state.only));
  }
  const marked = [...shown.values()].map((edge) => {
    const marks = Object.keys(data.marks).filter((mark) => edge.found.has(mark));
    return {...edge, marks, word: data.marks[marks[0]]};
  });
  const obstacles = $$(".stack, .summary, h2, h3", canvas).filter((each) => each.offsetParent);
  drawEdges($("#edges"), canvas, columns, obstacles, marked);
}

/* The box of a stack, or that of its collapsed lane. */
function standIn(number) {
  const lane = laneOf[number];
  if (lane.isOpen) return boxes[number].hidden ? null : boxes[number];
  return lane.summaries.find((each) => each.dataset.column === boxes[number].dataset.column);
}

function select(number, {scroll = "nearest"} = {}) {
  state.selected = number;
  details.hidden = number === null;
  if (number === null) {
    details.replaceChildren();
    $("#status").textContent = "";
  } else {
    laneOf[number].isWanted = true;
    details.replaceChildren(...detailsOf(number, data, Number(boxes[number].dataset.column)));
    details.scrollTop = 0;
    $("#status").textContent = `${data.stacks[number].name}: ${$$("h3", details).map((each) => each.textContent).join(", ")}`;
  }
  const fragment = number === null ? "" : `#${encodeURIComponent(data.stacks[number].id).replaceAll("%2F", "/")}`;
  if (location.hash !== fragment) history.pushState(null, "", fragment || location.pathname + location.search);
  if (number !== null) state.current = boxes[number];
  show();
  fit();
  if (number !== null && !boxes[number].hidden) boxes[number].scrollIntoView({block: scroll, inline: scroll});
}

function selectFromAddress() {
  let id = "";
  try { id = decodeURIComponent(location.hash.slice(1)); } catch { /* not one of ours */ }
  const number = data.stacks.findIndex((stack) => stack.id === id);
  if (number >= 0 || state.selected !== null) select(number < 0 ? null : number, {scroll: "center"});
}

function close() {
  const from = details.contains(document.activeElement);
  const box = boxes[state.selected];
  select(null);
  if (from) focusOn(box);
}

function find(text) {
  state.query = search.value = text;
  view.scrollTop = 0;
  show();
}

function only(kind) {
  state.only = state.only === kind ? null : kind;
  show();
}

function zoomTo(zoom) {
  state.zoom = Math.min(2, Math.max(0.3, zoom));
  canvas.style.setProperty("--zoom", state.zoom);
  draw();
}

function zoomBy(factor) {
  state.least = null;
  zoomTo(state.zoom * factor);
}

/* Fills the frame's width, as long as the drawing is not too large to read or to see at once; until somebody zooms. */
function fit(least = state.least) {
  state.least = least;
  if (least === null) return;
  canvas.style.setProperty("--zoom", 1);
  canvas.classList.add("tight");
  const wide = view.clientWidth / canvas.offsetWidth, high = view.clientHeight / canvas.offsetHeight;
  canvas.classList.remove("tight");
  zoomTo(Math.max(least, Math.min(1.5, wide, Math.max(1, high))));
}

function foldAll() {
  const isWanted = !lanes.some((lane) => lane.isWanted);
  for (const lane of lanes) lane.isWanted = isWanted;
  show();
}

/* One page of the drawing's own size, since edges would not follow boxes that a page break moves. */
function startPrinting() {
  const root = document.documentElement, sheet = document.styleSheets[0];
  root.classList.add("printing");
  draw();
  const {width, height} = document.body.getBoundingClientRect();
  sheet.insertRule(`@page { size: ${Math.ceil(width)}px ${Math.ceil(height) + 1}px; margin: 0; }`, sheet.cssRules.length);
}

function finishPrinting() {
  const sheet = document.styleSheets[0];
  document.documentElement.classList.remove("printing");
  sheet.deleteRule(sheet.cssRules.length - 1);
  draw();
}

function toggleTheme() {
  const isDark = isDarkNow();
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  $("#theme").ariaPressed = String(!isDark);
}

function isDarkNow() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

canvas.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  state.current = button;
  if (button.matches(".stack")) {
    const number = Number(button.dataset.number);
    select(number === state.selected ? null : number);
  } else {
    const lane = lanes.find(({element}) => element === button.closest(".lane"));
    lane.isWanted = !lane.isOpen;
    show();
    if (button.matches(".summary")) focusOn(lane.boxes.find((box) => box.dataset.column === button.dataset.column));
  }
});
canvas.addEventListener("pointerover", (event) => {
  const box = event.target.closest(".stack, .summary");
  for (const edge of $$(".hovered", $("#edges"))) edge.classList.remove("hovered");
  if (box) for (const edge of $$(`[data-ends~="${nameOf(box)}"]`, $("#edges"))) edge.classList.add("hovered");
});
canvas.addEventListener("keydown", onCanvasKey);
canvas.addEventListener("focusin", (event) => { if (event.target.matches(".fold, .stack, .summary")) state.current = event.target; });
details.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches(".close")) close();
  else if (button) {
    if (state.query && boxes[button.dataset.number].hidden) find("");
    select(Number(button.dataset.number), {scroll: "center"});
    focusOn(boxes[state.selected]);
  }
});
search.addEventListener("input", () => find(search.value));
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  const [first] = state.matches || [];
  if (event.key === "ArrowDown") focusOn(boxes[first] || state.current);
  else if (first !== undefined) select(first, {scroll: "center"});
});
document.addEventListener("keydown", onKey);
for (const button of $$("[data-only]")) {
  button.disabled = !pairs.some((pair) => pair.marks.has(button.dataset.only));
  button.addEventListener("click", () => only(button.dataset.only));
}
$("#fold-all").addEventListener("click", foldAll);
$("#zoom-in").addEventListener("click", () => zoomBy(1.2));
$("#zoom-out").addEventListener("click", () => zoomBy(1 / 1.2));
$("#zoom-fit").addEventListener("click", () => fit(0.3));
$("#theme").addEventListener("click", toggleTheme);
$("#theme").ariaPressed = String(isDarkNow());
addEventListener("resize", () => fit());
addEventListener("hashchange", selectFromAddress);
addEventListener("popstate", selectFromAddress);
addEventListener("beforeprint", startPrinting);
addEventListener("afterprint", finishPrinting);
new ResizeObserver(draw).observe(canvas);
lanes.forEach((lane, at) => lane.summaries.forEach((each) => { each.dataset.name = `${at}/${each.dataset.column}`; }));
show();
fit();
selectFromAddress();
