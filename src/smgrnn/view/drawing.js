// Drawing: fills the named lines and dots of the figure, in the colours of the window.
"use strict";

const NAME_SHARE = 0.3; // of the width, that the names of inputs or of outputs may take at most
const NAME_MARGIN = 6; // pixels between a name and the edge of the figure
const ruler = document.createElement("canvas").getContext("2d");
const DIMMED = 0.12; // opacity of edges that have nothing to do with the node pointed at
const ARROWS = [6, 13]; // pixels of the smallest and the largest arrowhead
let tones;

// Read the colours of the style sheet, which has others for a dark window.
function readTones() {
  const sheet = getComputedStyle(document.documentElement);
  tones = new Proxy({}, { get: (_, name) => sheet.getPropertyValue(`--${name}`).trim() });
}

function pathOf(row) {
  if (!paths.has(row)) {
    const points = Array.from({ length: style.nPoints }, (_, point) => pointOf(row, point / (style.nPoints - 1)));
    paths.set(row, [points.map(({ x }) => x), points.map(({ y }) => y)]);
  }
  return paths.get(row);
}

// Where an edge is after a share of its way, and the way it goes on from there.
function pointOf(row, share) {
  const [from, to] = [rowOf.get(edges.source[row]), rowOf.get(edges.target[row])];
  const [dx, dy] = [nodes.x[to] - nodes.x[from], nodes.y[to] - nodes.y[from]];
  const bend = 2 * style.bend * share * (1 - share), turn = 2 * style.bend * (1 - 2 * share);
  return {
    x: nodes.x[from] + share * dx - bend * dy,
    y: nodes.y[from] + share * dy + bend * dx,
    dx: dx - turn * dy,
    dy: dy + turn * dx,
  };
}

function lineData(rows, width, colour, alpha) {
  return {
    xs: rows.map((row) => pathOf(row)[0]),
    ys: rows.map((row) => pathOf(row)[1]),
    line_width: rows.map(width),
    line_color: rows.map(colour),
    line_alpha: rows.map(alpha),
  };
}

// Arrowheads, each just before the node that its edge enters.
function arrowData(rows, width, colour, alpha, scale) {
  const sizes = rows.map((row) => Math.min(Math.max(ARROWS[0], 4 + 2.4 * width(row)), ARROWS[1]));
  const places = rows.map((row, each) => {
    const whole = pointOf(row, 0.5);
    const length = Math.hypot(whole.dx * scale.x, whole.dy * scale.y) || 1;
    const gap = nodeSize(rowOf.get(edges.target[row])) / 2 + sizes[each] / 2;
    return pointOf(row, Math.max(0.5, 1 - gap / length));
  });
  return {
    x: places.map(({ x }) => x),
    y: places.map(({ y }) => y),
    angle: places.map(({ dx, dy }) => Math.atan2(dy * scale.y, dx * scale.x) - Math.PI / 2),
    size: sizes,
    color: rows.map(colour),
    alpha: rows.map(alpha),
  };
}

function dotData(rows, looks) {
  const data = { x: rows.map((row) => nodes.x[row]), y: rows.map((row) => nodes.y[row]) };
  for (const [name, find] of Object.entries(looks)) data[name] = rows.map(find);
  return data;
}

const kindOf = (row) =>
  row < nInputs - nBiases ? "input" : row < nInputs ? "bias" : row < nFixed ? "output" : "hidden";
const nodeSize = (row) => (row < nFixed ? Math.max(style.nodeSize, 14) : style.nodeSize);

// Draw the edges; where a node is pointed at, all but its own step back.
function drawEdges(found, update, sources, pointed, scale) {
  const shown = [...found.dying.map(([row]) => row), ...found.alive]; // the living above
  const fading = new Map(found.dying), glowing = new Map(found.young);
  const weights = new Map(shown.map((row) => [row, weightAt(row, update)]));
  const share = (row) => Math.log1p(Math.abs(weights.get(row))) / Math.log1p(style.largestWeight);
  const width = (row) => style.narrow + (style.wide - style.narrow) * share(row);
  const colour = (row) => (weights.get(row) < 0 ? tones.negative : tones.positive);
  const id = pointed && pointed[0] === "nodes" ? nodes.id[pointed[1]] : null;
  const isOwn = (row) => edges.source[row] === id || edges.target[row] === id;
  const strength = (row) => (id === null ? 0.8 : isOwn(row) ? 1 : DIMMED);
  const alpha = (row) => strength(row) * (fading.has(row) ? 0.6 * fading.get(row) : 1);
  sources.edges.data = lineData(shown, width, colour, alpha);
  sources.arrows.data = arrowData(found.alive, width, colour, (row) => Math.min(1, 1.25 * alpha(row)), scale);
  sources.halos.data = lineData(
    found.young.map(([row]) => row),
    (row) => width(row) + 5,
    (row) => tones[style.grown[edges.born_by[row]]],
    (row) => 0.55 * strength(row) * glowing.get(row),
  );
  return { shown, weights, lit: id === null ? [] : found.alive.filter(isOwn) };
}

function drawNodes(found, edgesAlive, sources) {
  const used = new Set(edgesAlive.map((row) => edges.source[row]));
  const tone = (row) => (row < nInputs && !used.has(nodes.id[row]) ? "unused" : kindOf(row));
  const shown = [...found.dying.map(([row]) => row), ...found.alive]; // the living above
  const fading = new Map(found.dying), glowing = new Map(found.young);
  sources.nodes.data = dotData(shown, {
    size: (row) => (fading.has(row) ? 0.6 : 1) * nodeSize(row),
    fill_color: (row) => (glowing.has(row) ? tones[style.grown[nodes.born_by[row]]] : tones.paper),
    line_color: (row) => tones[tone(row)],
    line_width: (row) => (row < nFixed ? 2.5 : 1.5),
    alpha: (row) => (fading.has(row) ? 0.4 * fading.get(row) : 1),
  });
  sources.glows.data = dotData(found.young.map(([row]) => row), {
    size: (row) => nodeSize(row) * (1 + 1.4 * glowing.get(row)),
    fill_color: (row) => tones[style.grown[nodes.born_by[row]]],
    line_color: () => "#ffffff00",
    line_width: () => 0,
    alpha: (row) => 0.4 * glowing.get(row),
  });
  return shown;
}

// The name, or as much of its beginning as fits into so many pixels.
function shorten(name, width) {
  const fits = (text) => ruler.measureText(text).width <= width;
  if (fits(name)) return name;
  const letters = Array.from(name);
  const cut = (n) => `${letters.slice(0, n).join("").trimEnd()}…`;
  let kept = 0;
  while (fits(cut(kept + 1))) kept += 1;
  return cut(kept);
}

// Write the names on one side, and return the pixels that they take beside their nodes.
function writeNames({ glyph, data_source: source }, most) {
  const { whole = Array.from(source.data.text) } = source.data;
  const gap = Math.abs(glyph.x_offset.value) + NAME_MARGIN;
  ruler.font = `${glyph.text_font_size.value} ${glyph.text_font.value}`;
  const text = whole.map((name) => shorten(name, most - gap));
  source.data = { ...source.data, whole, text };
  return gap + Math.max(...text.map((name) => ruler.measureText(name).width));
}

// Leave room for the names beside inputs and outputs, however wide the window is.
function fit(network) {
  const width = byId("network").clientWidth;
  const names = network.renderers.filter(({ name }) => name === "names");
  const [left, right] = names.map((side) => writeNames(side, NAME_SHARE * width));
  const inner = Math.max(width - left - right, 1);
  network.x_range.setv({ start: -left / inner, end: 1 + right / inner });
  network.y_range.setv({ start: -0.04, end: 1.04 });
}

function drawCurves() {
  byId("panels").hidden = !content.curves;
  if (!content.curves) return;
  const { image, left, right } = content.curves;
  byId("curves").src = image;
  byId("span").style.left = `${100 * left}%`;
  byId("span").style.right = `${100 * right}%`;
}

// Give the figure the colours of the window.
function paint(network) {
  readTones();
  for (const name of ["names", "nodes", "edges"]) {
    for (const each of network.renderers.filter((renderer) => renderer.name === name)) {
      if (name === "names") each.glyph.text_color = { value: tones.soft };
      else each.hover_glyph.line_color = { value: tones.ink };
    }
  }
}
