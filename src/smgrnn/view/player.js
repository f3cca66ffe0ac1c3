// The player: shows the network at a time, and moves the time along.  Time is counted in episodes.
"use strict";

const SECONDS = 30; // that the whole run takes to play
const NAME_WIDTH = 62; // pixels beside an input or output, of the name and the margin
const KINDS = ["nodes", "edges"]; // that can be pointed at, what lies above first
const ICONS = {
  play: '<svg viewBox="0 0 24 24"><path d="M7 4.5v15l13-7.5z"/></svg>',
  pause: '<svg viewBox="0 0 24 24"><path d="M6 5h4v14H6zm8 0h4v14h-4z"/></svg>',
};
const byId = (id) => document.getElementById(id);
const content = JSON.parse(byId("content").textContent, (_, value) => unpack(value));
const { nodes, edges, tracks, ends, nInputs, nFixed } = content.timeline;
const { episodes, style } = content;
const last = ends.length - 1;
const rowOf = new Map(Array.from(nodes.id, (id, row) => [id, row]));
const paths = new Map();

function unpack(value) {
  if (!value || !value.kind || !value.bytes) return value && value.bytes === "" ? [] : value;
  const bytes = Uint8Array.from(atob(value.bytes), (letter) => letter.charCodeAt(0));
  return value.kind === "<i4" ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

// --- time ---

// The last place in the ascending values[low … high - 1] that is not above `value`, or low.
function rank(values, low, high, value) {
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

function interpolate(value, xs, ys, low, high) {
  if (value <= xs[low]) return ys[low];
  if (value >= xs[high - 1]) return ys[high - 1];
  const place = rank(xs, low, high, value);
  const share = (value - xs[place]) / (xs[place + 1] - xs[place]);
  return ys[place] + share * (ys[place + 1] - ys[place]);
}

function updateAt(time) {
  const whole = Math.min(Math.floor(time), last);
  if (whole === last) return ends[last];
  return Math.floor(ends[whole] + (time - whole) * (ends[whole + 1] - ends[whole]));
}

function timeOf(update) {
  const place = rank(ends, 0, ends.length, update);
  if (place >= last) return last;
  return place + (update - ends[place]) / Math.max(1, ends[place + 1] - ends[place]);
}

for (const lives of [nodes, edges]) {
  lives.bornAt = Float64Array.from(lives.born, timeOf);
  lives.diedAt = Float64Array.from(lives.died, (update) => (update > ends[last] ? Infinity : timeOf(update)));
}

const isAlive = (lives, row, update) => lives.born[row] <= update && update < lives.died[row];
const weightAt = (row, update) =>
  interpolate(update, tracks.update, tracks.weight, tracks.first[row], tracks.first[row + 1]);

// The rows that are alive, those that are new with how new, and those that have just died.
function look(lives, time, update) {
  const found = { alive: [], young: [], dying: [] };
  for (let row = 0; row < lives.id.length; row++) {
    if (isAlive(lives, row, update)) {
      found.alive.push(row);
      const age = (time - lives.bornAt[row]) / (style.glow * last);
      if (lives.born_by[row] in style.grown && age < 1) found.young.push([row, 1 - age]);
    } else if (lives.died[row] <= update) {
      const age = (time - lives.diedAt[row]) / (style.fade * last);
      if (age < 1) found.dying.push([row, 1 - age]);
    }
  }
  return found;
}

// --- drawing ---

function pathOf(row) {
  if (!paths.has(row)) {
    const [from, to] = [rowOf.get(edges.source[row]), rowOf.get(edges.target[row])];
    const [x, y] = [nodes.x[from], nodes.y[from]];
    const [dx, dy] = [nodes.x[to] - x, nodes.y[to] - y];
    const xs = [], ys = [];
    for (let point = 0; point < style.nPoints; point++) {
      const share = point / (style.nPoints - 1), bend = 2 * style.bend * share * (1 - share);
      xs.push(x + share * dx - bend * dy);
      ys.push(y + share * dy + bend * dx);
    }
    paths.set(row, [xs, ys]);
  }
  return paths.get(row);
}

function lineData(rows, width, colour, alpha) {
  return {
    xs: rows.map((row) => pathOf(row)[0]),
    ys: rows.map((row) => pathOf(row)[1]),
    width: rows.map(width),
    colour: rows.map(colour),
    alpha: rows.map(alpha),
  };
}

function dotData(rows, looks) {
  const data = { x: rows.map((row) => nodes.x[row]), y: rows.map((row) => nodes.y[row]) };
  for (const [name, find] of Object.entries(looks)) data[name] = rows.map(find);
  return data;
}

// Leave room for the names beside inputs and outputs, however wide the window is.
function fit(network) {
  const margin = NAME_WIDTH / (byId("network").clientWidth - 2 * NAME_WIDTH);
  network.x_range.setv({ start: -margin, end: 1 + margin, reset_start: -margin, reset_end: 1 + margin });
}

const kindOf = (row) => (row < nInputs ? "input" : row < nFixed ? "output" : "hidden");

function drawEdges(found, update, sources) {
  const shown = [...found.dying.map(([row]) => row), ...found.alive]; // the living above
  const fading = new Map(found.dying), glowing = new Map(found.young);
  const weights = new Map(shown.map((row) => [row, weightAt(row, update)]));
  const share = (row) => Math.log1p(Math.abs(weights.get(row))) / Math.log1p(style.largestWeight);
  const width = (row) => style.narrow + (style.wide - style.narrow) * share(row);
  sources.edges.data = lineData(
    shown,
    width,
    (row) => (weights.get(row) < 0 ? style.negative : style.positive),
    (row) => 0.8 * (fading.has(row) ? 0.6 * fading.get(row) : 1),
  );
  sources.halos.data = lineData(
    found.young.map(([row]) => row),
    (row) => width(row) + 5,
    (row) => style.grown[edges.born_by[row]],
    (row) => 0.45 * glowing.get(row),
  );
  return { shown, weights };
}

function drawNodes(found, sources) {
  const shown = [...found.dying.map(([row]) => row), ...found.alive]; // the living above
  const fading = new Map(found.dying), glowing = new Map(found.young);
  const size = (row) => (row < nFixed ? Math.max(style.nodeSize, 14) : style.nodeSize);
  sources.nodes.data = dotData(shown, {
    size,
    fill: (row) => (glowing.has(row) ? style.grown[nodes.born_by[row]] : "#ffffff"),
    outline: (row) => style.outline[kindOf(row)],
    border: (row) => (row < nFixed ? 2.5 : 1.5),
    alpha: (row) => (fading.has(row) ? 0.5 * fading.get(row) : 1),
  });
  sources.glows.data = dotData(found.young.map(([row]) => row), {
    size: (row) => size(row) * (1 + 1.4 * glowing.get(row)),
    fill: (row) => style.grown[nodes.born_by[row]],
    outline: () => "#ffffff00",
    border: () => 0,
    alpha: (row) => 0.4 * glowing.get(row),
  });
  return shown;
}

// --- words ---

const signed = (weight) => (weight < 0 ? "−" : "+") + Math.abs(weight).toPrecision(3);
const nameOf = (id) => style.names[id] ?? `${id}`;
const episodeOf = (time) => Math.max(1, Math.ceil(time));

function birth(lives, row) {
  if (lives.born_by[row] < 0) return "there from the start";
  const relays = lives === nodes && lives.source[row] >= 0;
  const why = relays
    ? `as a relay from ${nameOf(lives.source[row])} to ${nameOf(lives.target[row])}`
    : `by ${style.causes[lives.born_by[row]]}`;
  return `came in ${content.unit} ${episodeOf(lives.bornAt[row])} ${why}`;
}

function death(lives, row) {
  if (lives.died_by[row] < 0) return "there to the end";
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
      `<b>Edge ${ends}</b><span>${birth(edges, row)}</span><span>${death(edges, row)}</span>` +
      `weight ${weight}${sparkline(row, frame.time)}`
    );
  }
  const id = nodes.id[row];
  const count = (end) => frame.edges.filter((edge) => edges[end][edge] === id).length;
  const what = row < nFixed ? `${kindOf(row)} ${nameOf(id)}` : `hidden node ${id}`;
  return (
    `<b>${what[0].toUpperCase()}${what.slice(1)}</b><span>${birth(nodes, row)}</span>` +
    `<span>${death(nodes, row)}</span>${count("target")} edges in, ${count("source")} out`
  );
}

function describe(time) {
  if (time <= 0) return `<span>Before the first ${content.unit}</span>`;
  const row = episodeOf(time) - 1, steps = Math.max(1, episodes.steps[row]);
  const figures = [
    ["nodes", episodes.n_nodes[row]],
    ["edges", episodes.n_edges[row]],
    ["return", episodes.returns[row].toFixed(Math.abs(episodes.returns[row]) < 10 ? 2 : 1)],
  ];
  if (episodes.agreed.some(Boolean)) {
    figures.push(["agreement", `${((100 * episodes.agreed[row]) / steps).toFixed(0)} %`]);
  }
  const words = figures.map(([name, value]) => `<span>${name} <b>${value.toLocaleString("en")}</b></span>`);
  const unit = content.unit[0].toUpperCase() + content.unit.slice(1);
  return `<span>${unit} <b>${(row + 1).toLocaleString("en")}</b> of ${last.toLocaleString("en")}</span>${words.join("")}`;
}

// --- the player ---

class Player {
  constructor(network, curves) {
    const find = (name) => network.select_one(name).data_source;
    this.sources = Object.fromEntries(["halos", "edges", "glows", "nodes"].map((name) => [name, find(name)]));
    this.isPlaying = false;
    this.pointed = null;
    byId("time").max = last;
    byId("time").addEventListener("input", (event) => this.stop().seek(Number(event.target.value)));
    byId("play").addEventListener("click", () => (this.isPlaying ? this.stop() : this.play()));
    for (const plot of curves) plot.on_event("tap", (event) => this.stop().seek(event.x));
    for (const kind of KINDS) this.sources[kind].inspect.connect(() => this.point(kind));
    this.listen();
    new ResizeObserver(() => fit(network)).observe(byId("network"));
    this.stop().seek(last);
  }

  seek(time) {
    this.time = Math.min(Math.max(time, 0), last);
    const update = updateAt(this.time);
    const nodesSeen = look(nodes, this.time, update), edgesSeen = look(edges, this.time, update);
    const { shown, weights } = drawEdges(edgesSeen, update, this.sources);
    this.shown = { edges: shown, nodes: drawNodes(nodesSeen, this.sources) };
    this.frame = { time: this.time, update, nodes: nodesSeen.alive, edges: edgesSeen.alive, weights };
    byId("cursor").style.left = `${(100 * this.time) / (last || 1)}%`;
    byId("time").value = this.time;
    byId("now").innerHTML = describe(this.time);
    this.tell(this.pointed);
    return this;
  }

  play() {
    if (this.time >= last) this.seek(0);
    this.isPlaying = true;
    this.#show("Pause", ICONS.pause);
    let before = null;
    const step = (now) => {
      if (!this.isPlaying) return;
      const seconds = before === null ? 0 : Math.min((now - before) / 1000, 0.1);
      before = now;
      this.seek(this.time + ((last * seconds) / SECONDS) * Number(byId("speed").value));
      if (this.time >= last) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    return this;
  }

  stop() {
    this.isPlaying = false;
    this.#show("Play", ICONS.play);
    return this;
  }

  // Ids of the nodes that are shown, and id and weight of the edges: what a frame is.
  state() {
    const { nodes: nodeRows, edges: edgeRows, weights, update } = this.frame;
    return {
      update,
      nodes: nodeRows.map((row) => nodes.id[row]),
      edges: edgeRows.map((row) => [edges.id[row], weights.get(row)]),
    };
  }

  listen() {
    for (const name of ["pointermove", "pointerdown"]) {
      byId("network").addEventListener(name, (event) => (this.pointer = event), true);
    }
    byId("network").addEventListener("pointerdown", () => this.tell(null), true);
    byId("network").addEventListener("pointerleave", () => this.isTouched() || this.tell(null));
  }

  isTouched() {
    return this.pointer?.pointerType === "touch";
  }

  point(changed) {
    const placeOf = (kind) => this.sources[kind].inspected.indices[0];
    // A finger that is lifted points at nothing, but what it touched is to stay.
    if (this.isTouched() && placeOf(changed) === undefined) return;
    const kind = KINDS.find((each) => placeOf(each) !== undefined);
    this.tell(kind === undefined ? null : [kind, this.shown[kind][placeOf(kind)]]);
  }

  tell(pointed) {
    const story = byId("story");
    this.pointed = pointed;
    story.hidden = pointed === null;
    if (pointed === null) return;
    story.innerHTML = storyOf(...pointed, this.frame);
    const { clientX: x, clientY: y } = this.pointer, { offsetWidth: width, offsetHeight: height } = story;
    story.style.left = `${Math.max(8, Math.min(x + 16, innerWidth - width - 8))}px`;
    story.style.top = `${y + 16 + height > innerHeight ? y - height - 16 : y + 16}px`;
  }

  #show(label, icon) {
    byId("play").innerHTML = icon;
    byId("play").setAttribute("aria-label", label);
  }
}

async function start() {
  await Bokeh.embed.embed_item(content.network, "network");
  const network = Bokeh.documents[0].roots()[0];
  let curves = [];
  if (content.curves) {
    await Bokeh.embed.embed_item(content.curves, "curves");
    curves = Bokeh.documents[1].roots()[0].children;
  }
  byId("panels").hidden = !content.curves;
  window.player = new Player(network, curves);
}
start();
