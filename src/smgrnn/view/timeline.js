// The timeline as it was packed by page.py, and the network at any time of it.  Time is counted in
// episodes.
"use strict";

const byId = (id) => document.getElementById(id);
let content, nodes, edges, tracks, ends, sizes, nInputs, nBiases, nFixed, episodes, style, last, rowOf, paths;

function unpack(value) {
  if (!value || !value.kind || !value.bytes) return value && value.bytes === "" ? [] : value;
  const bytes = Uint8Array.from(atob(value.bytes), (letter) => letter.charCodeAt(0));
  return value.kind === "<i4" ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

// Take what there is to show: once, or again and again while a run goes on.
function take(text) {
  content = JSON.parse(text, (_, value) => unpack(value));
  ({ nodes, edges, tracks, ends, sizes, nInputs, nBiases, nFixed } = content.timeline);
  ({ episodes, style } = content);
  last = ends.length - 1;
  rowOf = new Map(Array.from(nodes.id, (id, row) => [id, row]));
  paths = new Map();
  for (const lives of [nodes, edges]) {
    lives.bornAt = Float64Array.from(lives.born, timeOf);
    lives.diedAt = Float64Array.from(lives.died, (update) => (update > ends[last] ? Infinity : timeOf(update)));
  }
}

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

const isAlive = (lives, row, update) => lives.born[row] <= update && update < lives.died[row];
const weightAt = (row, update) =>
  interpolate(update, tracks.update, tracks.weight, tracks.first[row], tracks.first[row + 1]);

// All nodes and edges there were after an update, also those that are not drawn.
function sizeAt(update) {
  const place = rank(sizes.update, 0, sizes.update.length, update);
  return { nodes: sizes.nodes[place], edges: sizes.edges[place] };
}

// The rows that are alive, those that are new with how new, and those that have just died: the
// latest, and never more than half as many as live, or they would be what one sees.
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
  const nLiving = found.alive.length - (lives === nodes ? nFixed : 0);
  found.dying.sort((one, other) => other[1] - one[1]).splice(Math.floor(nLiving / 2));
  return found;
}
