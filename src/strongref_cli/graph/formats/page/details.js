/* What the page says about the selected stack. Names and keys become text nodes, never markup. */

function node(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function placeOf(stack, ...more) {
  const parts = [stack.kind, stack.account, stack.region, ...more].filter(Boolean);
  return node("p", {className: "quiet"}, ...parts.flatMap((part, at) => [at ? " · " : "", node("span", {}, part)]));
}

function detailsOf(number, data, column) {
  const stack = data.stacks[number];
  const imports = data.references.filter((each) => each.importer === number);
  const exports = data.references.filter((each) => each.producer === number);
  const outdated = imports.reduce((sum, each) => sum + each.outdated.length, 0);
  const cycle = data.cycles.find((each) => each.members.includes(number));
  const isConnected = imports.length + exports.length > 0;
  const parts = [
    node("button", {type: "button", className: "close", ariaLabel: "Close", title: "Close (Escape)"}, "×"),
    node("h2", {}, stack.name),
    placeOf(stack),
    node("p", {className: "quiet"}, isConnected ? `Deployed in wave ${column} of ${data.waves}` : "Can be deployed at any time"),
  ];
  if (outdated) parts.push(notice("outdated", `${outdated === 1 ? "1 value" : `${outdated} values`} changed after this ${stack.kind === "stack" ? "stack" : "set"} read ${outdated === 1 ? "it" : "them"}. Deploy it with another Revision.`));
  if (cycle) parts.push(notice("cycle", `Part of a cycle of ${cycle.members.length}: ${cycle.chain.join(" → ")}`));
  const bare = exports.filter((each) => each.protection !== "held");
  if (bare.length) parts.push(notice("not-held", `${bare.every((each) => each.protection === "unknown") ? "It is unknown whether its references have holds." : "Some of its references have no hold."} Without a hold, only the Export refuses a deletion of this stack. By then, CloudFormation may have deleted other resources.`));
  parts.push(...referencesOf("Imports from", imports, "producer", data));
  if (stack.kind !== "consumer") parts.push(...referencesOf("Exports to", exports, "importer", data));
  return parts;
}

function notice(kind, text) {
  return node("p", {className: `notice ${kind}`}, text);
}

function referencesOf(title, references, end, data) {
  const count = new Set(references.map((each) => each[end])).size;
  if (!count) return [node("h3", {}, `${title} nobody`)];
  return [node("h3", {}, `${title} ${count}`), node("ul", {className: "references"}, ...references.map((each) => referenceOf(each, end, data)))];
}

function referenceOf(reference, end, data) {
  const stack = data.stacks[reference[end]];
  const link = node("button", {type: "button"}, stack.name);
  link.dataset.number = reference[end];
  const isThere = reference.region === stack.region && ["", stack.account].includes(reference.account);
  const where = isThere ? "" : `values in ${reference.where}`;
  const keys = reference.keys.map((key) => {
    const isOutdated = reference.outdated.includes(key);
    return node("li", {className: isOutdated ? "outdated" : ""}, key, ...(isOutdated ? [" ", node("span", {className: "tag outdated"}, "outdated")] : []));
  });
  if (!keys.length) keys.push(node("li", {}, reference.protection === "held" ? "at least one import" : "not read"));
  const tag = reference.protection === "held" ? [] : [" ", node("span", {className: "tag not-held"}, data.marks[reference.protection])];
  return node("li", {}, link, ...tag, placeOf(stack, where), node("ul", {className: "keys"}, ...keys));
}
