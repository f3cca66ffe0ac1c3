// Words: the moment that is shown, and the story of a node or an edge.
"use strict";

const signed = (weight) => (weight < 0 ? "−" : "+") + Math.abs(weight).toPrecision(3);
const nameOf = (id) => style.names[id] ?? `${id}`;
const episodeOf = (time) => Math.max(1, Math.ceil(time));
const safe = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

function birth(lives, row) {
  if (lives.born_by[row] < 0) return "there from the start";
  const relays = lives === nodes && lives.source[row] >= 0;
  const why = relays
    ? `as a relay from ${nameOf(lives.source[row])} to ${nameOf(lives.target[row])}`
    : `by ${style.causes[lives.born_by[row]]}`;
  return safe(`came in ${content.unit} ${episodeOf(lives.bornAt[row])} ${why}`);
}

function death(lives, row) {
  if (lives.died_by[row] < 0) return content.isLive ? "still there" : "there to the end";
  return `removed in ${content.unit} ${episodeOf(lives.diedAt[row])}: ${style.causes[lives.died_by[row]]}`;
}

function sparkline(row, time) {
  const [low, high] = [tracks.first[row], tracks.first[row + 1]];
  const end = Math.min(edges.diedAt[row], last), start = edges.bornAt[row];
  const weights = Array.from(tracks.weight.subarray(low, high));
  const [least, most] = [Math.min(0, ...weights), Math.max(0, ...weights)];
  const x = (at) => 240 * ((at - start) / (end - start || 1));
  const y = (weight) => 50 - 46 * ((weight - least) / (most - least || 1));
  const points = weights.map((weight, place) => [x(timeOf(tracks.update[low + place])), y(weight)]);
  points.push([240, points.at(-1)[1]]);
  const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join("L");
  const now = x(Math.min(time, end)).toFixed(1);
  return (
    '<svg viewBox="0 0 240 54" preserveAspectRatio="none">' +
    `<line x1="0" x2="240" y1="${y(0)}" y2="${y(0)}"/><line class="now" x1="${now}" x2="${now}" y1="0" y2="54"/>` +
    `<path d="M${path}"/></svg>`
  );
}

function storyOf(kind, row, frame) {
  if (kind === "edges") {
    const ends = `${nameOf(edges.source[row])} → ${nameOf(edges.target[row])}`;
    const weight = signed(weightAt(row, frame.update));
    return (
      `<b>Edge ${safe(ends)}</b><span>${birth(edges, row)}</span><span>${death(edges, row)}</span>` +
      `weight ${weight}${sparkline(row, frame.time)}`
    );
  }
  const id = nodes.id[row];
  const count = (end) => frame.edges.filter((edge) => edges[end][edge] === id).length;
  const what = nameOf(id) === kindOf(row) ? nameOf(id) : row < nFixed ? `${kindOf(row)} ${nameOf(id)}` : `hidden node ${id}`;
  return (
    `<b>${safe(what[0].toUpperCase() + what.slice(1))}</b><span>${birth(nodes, row)}</span>` +
    `<span>${death(nodes, row)}</span>${count("target")} edges in, ${count("source")} out`
  );
}

function describe(time, update) {
  const unit = content.unit[0].toUpperCase() + content.unit.slice(1);
  const { nodes: nNodes, edges: nEdges } = sizeAt(update);
  const figures = [["nodes", nNodes], ["edges", nEdges]];
  if (time > 0) {
    const row = episodeOf(time) - 1, steps = Math.max(1, episodes.steps[row]);
    const digits = Math.abs(episodes.returns[row]) < 10 ? 2 : 1;
    figures.push(["return", episodes.returns[row].toFixed(digits)]);
    if (episodes.agreed.some(Boolean)) {
      figures.push(["agreement", `${((100 * episodes.agreed[row]) / steps).toFixed(0)} %`]);
    }
  }
  const number = (value) => value.toLocaleString("en");
  const words = figures.map(([name, value]) => `<span>${name} <b>${number(value)}</b></span>`);
  const moment =
    time > 0
      ? `${unit} <b>${number(episodeOf(time))}</b> of ${number(content.nEpisodes)}`
      : `Before the first ${content.unit}`;
  return `<span>${moment}</span>${words.join("")}`;
}
