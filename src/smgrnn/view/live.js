// Following a run under way: asks the server for what is new, and says how things stand.
"use strict";

const PAUSE = 1000; // milliseconds between two questions
const STATES = {
  live: "live",
  finished: "finished",
  lost: "no longer followed: the server has stopped",
};

function showState(state) {
  byId("live").hidden = false;
  byId("live").className = `chip ${state}`;
  byId("live").textContent = STATES[state];
}

// Take new content; the figure of another run replaces the one before.
async function takeNew(text) {
  const { title } = content;
  take(text);
  for (const name of ["facts", "notices", "legend"]) byId(name).innerHTML = content[name];
  if (content.title === title) window.player.renew();
  else await build();
}

async function follow() {
  let isThere = true;
  while (isThere || !content.isFinished) {
    showState(content.isFinished ? "finished" : isThere ? "live" : "lost");
    await new Promise((done) => setTimeout(done, PAUSE));
    const answer = await fetch(`moment?after=${content.version}`).catch(() => null);
    const text = await answer?.text().catch(() => "");
    if (text) await takeNew(text);
    isThere = answer !== null;
  }
}

start();
