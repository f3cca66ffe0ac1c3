// The player: shows the network at a time, and moves the time along.
"use strict";

const SECONDS = 30; // that the whole run takes to play
const CATCH_UP = 1; // seconds in which a live page moves on to what is new
const KINDS = ["nodes", "edges"]; // that can be pointed at, what lies above first
const DRAWN = ["halos", "edges", "arrows", "glows", "nodes"];
const ICONS = {
  play: '<svg viewBox="0 0 24 24"><path d="M7 4.5v15l13-7.5z"/></svg>',
  pause: '<svg viewBox="0 0 24 24"><path d="M6 5h4v14H6zm8 0h4v14h-4z"/></svg>',
};

class Player {
  constructor(network) {
    const find = (name) => network.select_one(name).data_source;
    this.sources = Object.fromEntries(DRAWN.map((name) => [name, find(name)]));
    this.network = network;
    this.isPlaying = false;
    this.isFollowing = true;
    this.pointed = null;
    this.left = new AbortController();
    this.#listen();
    this.repaint();
    this.stop().seek(last);
  }

  // Show other content, of the same run later on.
  renew() {
    const wasPlaying = this.isPlaying;
    drawCurves();
    byId("time").max = last;
    if (this.isFollowing) this.#move(() => (last - this.time) / CATCH_UP + 1);
    else if (!wasPlaying) this.seek(this.time);
  }

  // Listen to nothing any more: another player takes over.
  leave() {
    this.stop();
    this.left.abort();
    for (const each of Bokeh.documents.splice(0)) each.clear();
  }

  repaint() {
    paint(this.network);
    drawCurves();
    if (this.frame) this.draw();
  }

  seek(time) {
    this.time = Math.min(Math.max(time, 0), last);
    this.isFollowing = this.time >= last;
    byId("cursor").style.left = `${(100 * this.time) / (last || 1)}%`;
    byId("time").max = last;
    byId("time").value = this.time;
    byId("time").setAttribute("aria-valuetext", `${content.unit} ${Math.ceil(this.time)}`);
    this.draw();
    byId("now").innerHTML = describe(this.time, this.frame.update);
    this.#tell();
    return this;
  }

  draw() {
    const update = updateAt(this.time);
    const nodesSeen = look(nodes, this.time, update), edgesSeen = look(edges, this.time, update);
    const { shown, weights, lit } = drawEdges(edgesSeen, update, this.sources, this.pointed, this.#scale());
    this.shown = { edges: shown, nodes: drawNodes(nodesSeen, edgesSeen.alive, this.sources) };
    this.frame = { time: this.time, update, nodes: nodesSeen.alive, edges: edgesSeen.alive, weights, lit };
  }

  // Go to the next structural change, or to the one before.
  seekChange(direction) {
    const times = Array.from(sizes.update, timeOf);
    const after = times.find((time) => time > this.time + 1e-6) ?? last;
    const before = times.findLast((time) => time < this.time - 1e-6) ?? 0;
    return this.seek(direction > 0 ? after : before);
  }

  play() {
    if (this.time >= last) this.seek(0);
    this.isFollowing = false;
    this.#move(() => (last / SECONDS) * Number(byId("speed").value));
    this.isPlaying = true;
    this.#show("Pause", ICONS.pause);
    return this;
  }

  stop() {
    this.isPlaying = false;
    this.moving = null;
    this.#show("Play", ICONS.play);
    return this;
  }

  // Move on to the end, by as many episodes in a second as `speed` says.
  #move(speed) {
    const moving = (this.moving = {});
    let before = null;
    const step = (now) => {
      if (this.moving !== moving) return;
      const seconds = before === null ? 0 : Math.min((now - before) / 1000, 0.1);
      before = now;
      const isFollowing = this.isFollowing;
      this.seek(this.time + seconds * speed());
      this.isFollowing ||= isFollowing;
      if (this.time >= last) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
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

  isTouched() {
    return this.pointer?.pointerType === "touch";
  }

  point(changed) {
    const placeOf = (kind) => this.sources[kind].inspected.indices[0];
    // A finger that is lifted points at nothing, but what it touched is to stay.
    if (this.isTouched() && placeOf(changed) === undefined) return;
    const kind = KINDS.find((each) => placeOf(each) !== undefined);
    this.pointAt(kind === undefined ? null : [kind, this.shown[kind][placeOf(kind)]]);
  }

  pointAt(pointed) {
    if (String(pointed) !== String(this.pointed)) {
      this.pointed = pointed;
      this.draw();
    }
    this.#tell();
  }

  #tell() {
    const story = byId("story");
    story.hidden = this.pointed === null;
    if (this.pointed === null) return;
    story.innerHTML = storyOf(...this.pointed, this.frame);
    const { clientX: x, clientY: y } = this.pointer, { offsetWidth: width, offsetHeight: height } = story;
    story.style.left = `${Math.max(8, Math.min(x + 16, innerWidth - width - 8))}px`;
    story.style.top = `${y + 16 + height > innerHeight ? y - height - 16 : y + 16}px`;
  }

  // Pixels of one unit to the right and upwards.
  #scale() {
    const { width, height } = Bokeh.index.get_one(this.network).frame.bbox;
    const { x_range: x, y_range: y } = this.network;
    return { x: width / (x.end - x.start), y: height / (y.end - y.start) };
  }

  #show(label, icon) {
    byId("play").innerHTML = icon;
    byId("play").setAttribute("aria-label", label);
  }

  #listen() {
    const toggle = () => (this.isPlaying ? this.stop() : this.play());
    const { signal } = this.left, early = { signal, capture: true };
    byId("time").addEventListener("input", (event) => this.stop().seek(Number(event.target.value)), { signal });
    byId("play").addEventListener("click", toggle, { signal });
    const seek = ({ offsetX: x, target }) => this.stop().seek((last * x) / target.clientWidth);
    byId("span").addEventListener("click", seek, { signal });
    for (const kind of KINDS) this.sources[kind].inspect.connect(() => this.point(kind));
    for (const name of ["pointermove", "pointerdown"]) {
      byId("network").addEventListener(name, (event) => (this.pointer = event), early);
    }
    byId("network").addEventListener("pointerdown", () => this.pointAt(null), early);
    byId("network").addEventListener("pointerleave", () => this.isTouched() || this.pointAt(null), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint(), { signal });
    addEventListener("keydown", (event) => this.#press(event, toggle), { signal });
    this.#listenToZoom();
  }

  #listenToZoom() {
    const { network } = this;
    // A finger that drags scrolls the page; a mouse moves the network.
    const pan = network.toolbar.tools.find((tool) => tool.type === "PanTool");
    pan.active = matchMedia("(pointer: fine)").matches;
    let isFitting = false, isDue = false;
    const whole = () => {
      isFitting = true;
      fit(network);
      isFitting = false;
      byId("whole").hidden = true;
    };
    const change = () => {
      if (!isFitting) byId("whole").hidden = false;
      if (isDue) return;
      isDue = true; // arrowheads turn with the scale
      requestAnimationFrame(() => {
        isDue = false;
        this.draw();
      });
    };
    for (const range of [network.x_range, network.y_range]) range.change.connect(change);
    network.on_event("doubletap", whole);
    byId("whole").addEventListener("click", whole, { signal: this.left.signal });
    const observer = new ResizeObserver(whole);
    observer.observe(byId("network"));
    this.left.signal.addEventListener("abort", () => observer.disconnect());
  }

  #press(event, toggle) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && event.target.tagName !== "BUTTON") toggle();
    else if (direction && event.shiftKey) this.stop().seekChange(direction);
    else if (direction) this.stop().seek(Math.round(this.time + direction));
    else if (event.key === "Home") this.stop().seek(0);
    else if (event.key === "End") this.stop().seek(last);
    else return;
    event.preventDefault();
  }
}

// Build the figure of the content, in place of another if there is one.
async function build() {
  window.player?.leave();
  byId("title").innerHTML = content.title;
  document.title = byId("title").textContent;
  byId("network").replaceChildren();
  await Bokeh.embed.embed_item(content.network, "network");
  window.player = new Player(Bokeh.documents.at(-1).roots()[0]);
}

async function start() {
  take(byId("content").textContent);
  await build();
  if (content.isLive) follow();
}
