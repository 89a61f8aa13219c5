/* The drawing is one stop of the tab key, and arrow keys move inside it. */

function stops() {
  return lanes.filter((lane) => !lane.element.hidden).flatMap((lane) => [lane.fold, ...(lane.isOpen ? lane.boxes.filter((box) => !box.hidden) : lane.summaries)]);
}

function keepOneTabStop() {
  const all = stops();
  if (!all.includes(state.current)) state.current = all.find((each) => each.matches(".stack")) || all[0] || null;
  for (const each of $$(".fold, .stack, .summary")) each.tabIndex = each === state.current ? 0 : -1;
}

function focusOn(element) {
  if (!element) return;
  state.current = element;
  keepOneTabStop();
  element.focus({preventScroll: true});
  element.scrollIntoView({block: "nearest", inline: "nearest"});
}

function nextIn(direction, from) {
  const here = from.getBoundingClientRect();
  const isVertical = direction === "ArrowUp" || direction === "ArrowDown";
  const isBack = direction === "ArrowUp" || direction === "ArrowLeft";
  let best = null, least = Infinity;
  for (const each of stops()) {
    if (each === from) continue;
    const there = each.getBoundingClientRect();
    const along = isVertical ? (isBack ? here.top - there.bottom : there.top - here.bottom) : (isBack ? here.left - there.right : there.left - here.right);
    const across = isVertical ? Math.max(0, there.left - here.right, here.left - there.right) : Math.abs(here.top + here.height / 2 - there.top - there.height / 2);
    if (along < -1 || (!isVertical && each.matches(".fold"))) continue;
    const cost = isVertical ? along + across * 4 : along * 2 + across;
    if (cost < least) [best, least] = [each, cost];
  }
  return best;
}

function onCanvasKey(event) {
  const from = event.target.closest(".fold, .stack, .summary");
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = stops();
  const to = event.key === "Home" ? all[0] : event.key === "End" ? all.at(-1) : event.key.startsWith("Arrow") ? nextIn(event.key, from) : null;
  if (!to && !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  focusOn(to);
}

function onKey(event) {
  const isTyping = event.target.matches?.("input");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.select();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (state.query) return find("");
    if (isTyping) search.blur();
    if (state.selected !== null) close();
    else if (state.only) only(state.only);
  }
}
