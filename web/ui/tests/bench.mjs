// Prints the figures of the bars of pages, with the release binary (AGON): first paint of each page with
// 100,000 sessions stored, what a page that follows a sweep costs the server, and how soon a session of
// 100 MB is open. Decides nothing. Run it with `node web/ui/tests/bench.mjs [stored|live|large]`; SESSIONS sets
// how many there are.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "@playwright/test";

const AGON = process.env.AGON ?? join(import.meta.dirname, "../../../target/release/agon");
const SESSIONS = Number(process.env.SESSIONS ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), "agon-pages-bench-"));
const started = [];

function start(pattern, ...words) {
  const child = spawn(AGON, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const found = pattern.exec(line)?.[1];
        if (found) resolve({ child, found });
      });
    }
    child.on("exit", (code) => reject(new Error(`agon ${words.join(" ")} ended with ${code}`)));
  });
}

const PAGES = /(http:\/\/127\.0\.0\.1:\d+\/#token=\w+)/;

/** A line of what the system says of a process. */
const status = (pid, name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

/** Seconds of processor time. */
function processor(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function paint(browser, address, path) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector("h1");
  const fresh = await context.newPage();
  const began = performance.now();
  await fresh.goto(new URL(path, address).href.replace(/#.*/, ""));
  await fresh.waitForSelector("h1");
  const shown = performance.now() - began;
  const first = await fresh.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  await context.close();
  return `first paint ${Math.round(first)} ms, heading after ${Math.round(shown)} ms`;
}

async function stored(browser) {
  writeFileSync(
    join(folder, "many.toml"),
    `name = "many"\nrepeats = ${SESSIONS / 4}\n[players.r]\nkind = "rule"\nstrategy = "random"\n[[games]]\n` +
      `game = "guess_two_thirds"\nparams = { rounds = 2 }\nseats = [{ player = "r", count = 3 }]\n` +
      `[grid]\n"params.ratio" = [0.5, 0.6, 0.7, 0.8]\n`,
  );
  execFileSync(AGON, ["run", "many.toml", "--quiet", "--data", "data"], { cwd: folder, stdio: "ignore" });
  const began = performance.now();
  const { child, found: address } = await start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0");
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector("h1");
  console.log(`the first page is there ${Math.round(performance.now() - began)} ms after the start`);
  const origin = new URL(address).origin;
  const ask = async (path) => (await page.request.get(`${origin}/api/v1${path}`)).json();
  for (;;) {
    const { runs } = await ask("/runs");
    if (runs[0]?.sessions === SESSIONS) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const listed = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${SESSIONS} sessions are listed after ${listed} s, in ${Math.round(status(child.pid, "VmHWM") / 1024)} MB`);
  const asked = performance.now();
  let slowest = 0;
  for (;;) {
    const before = performance.now();
    const { counted } = await ask("/results");
    slowest = Math.max(slowest, performance.now() - before);
    if (counted === SESSIONS) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  console.log(
    `results over ${SESSIONS} sessions are there ${((performance.now() - asked) / 1000).toFixed(1)} s after somebody ` +
      `looked, no answer took longer than ${Math.round(slowest)} ms, ${Math.round(status(child.pid, "VmHWM") / 1024)} MB`,
  );
  const { sessions } = await ask(`/runs/many/sessions?cursor=${SESSIONS - 100}`);
  for (const path of ["/", "/runs/many", "/runs/many?search=0.7", "/results", "/results?view=figures", "/results?where.params.ratio=0.7", `/sessions/${sessions.at(-1).session}`]) {
    console.log(`${path.replace(/[0-9a-f]{32}/, "ID")}: ${await paint(browser, address, path)} (bar: 1 s)`);
  }
  await context.close();
  child.removeAllListeners("exit");
  child.kill();
}

async function live(browser) {
  const listening = /listening on (\S+)/;
  const { found: model } = await start(listening, "sim-llm", "--listen", "127.0.0.1:0", "--latency", "50ms");
  writeFileSync(
    join(folder, "agon.toml"),
    `[providers.simulated]\nbase_url = "http://${model}/v1"\nkeys = []\n[models.any]\nprovider = "simulated"\n`,
  );
  const store = ["--data", "cluster", "--listen", "127.0.0.1:0", "--log", "error"];
  const gateway = `http://${(await start(listening, "gateway", "--config", "agon.toml", ...store)).found}`;
  const coordinator = `http://${(await start(listening, "coordinator", "--gateway", gateway, ...store)).found}`;
  const services = ["--coordinator", coordinator, "--gateway", gateway];
  await start(/(\S+)/, "worker", ...services, "--places", "64", "--log", "error");
  const { child, found: address } = await start(PAGES, "view", ...services, "--listen", "127.0.0.1:0");
  writeFileSync(
    join(folder, "live.toml"),
    `name = "live"\nrepeats = 9000\n[players.m]\nkind = "model"\nmodel = "any"\n[[games]]\n` +
      `game = "divide_dollar"\nparams = { rounds = 3 }\nseats = [{ player = "m", count = 2 }]\n`,
  );
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector("h1");
  const running = spawn(AGON, ["run", "live.toml", "--quiet", ...services], { cwd: folder, stdio: "ignore" });
  started.push(running);
  await page.waitForSelector("[role=progressbar]");
  const done = () => page.getAttribute("[role=progressbar]", "aria-valuenow").then(Number);
  const [before, sessions, from] = [processor(child.pid), await done(), performance.now()];
  const frames = await page.evaluate(
    () =>
      new Promise((resolve) => {
        let frames = 0;
        const from = performance.now();
        const step = (now) => (now - from < 15_000 ? (frames++, requestAnimationFrame(step)) : resolve(frames / 15));
        requestAnimationFrame(step);
      }),
  );
  const seconds = (performance.now() - from) / 1000;
  const decisions = (((await done()) - sessions) * 6) / seconds;
  const share = ((processor(child.pid) - before) / seconds) * 100;
  console.log(
    `a page that follows ${Math.round(decisions)} decisions a second: ${share.toFixed(1)} % of a core in the server ` +
      `(bar: 20 % at 1,000), ${Math.round(frames)} frames a second (bar: 60)`,
  );
  const results = await context.newPage();
  await results.goto(new URL("/results?view=figures", address).href.replace(/#.*/, ""));
  await results.waitForSelector("img");
  const [then, at, since] = [processor(child.pid), await done(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const passed = (performance.now() - since) / 1000;
  console.log(
    `with its figures open as well, at ${Math.round((((await done()) - at) * 6) / passed)} decisions a second: ` +
      `${(((processor(child.pid) - then) / passed) * 100).toFixed(1)} % of a core in the server`,
  );
  await context.close();
}

/** Bytes of a reply: with what stands beside it a session of 22,000 comes to 100 MB. */
const REPLY_BYTES = 4_010;
const WORDS =
  'the mean of all was lower than I had thought, "Player 3" will not go on so, and\nwe ask again whether 40 is fair'.split(" ");

/** Prose with line breaks and quotes, the same for the same seed. */
function prose(seed, bytes) {
  const words = [];
  for (let [state, length] = [seed, 0]; length < bytes; length += words.at(-1).length + 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const drawn = state >>> 8;
    words.push(drawn % 4 === 0 ? (drawn % 1_000_003).toString(36) : WORDS[drawn % WORDS.length]);
  }
  return words.join(" ");
}

/** A model that writes much before it answers. */
async function talker() {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const seed = createHash("sha256").update(Buffer.concat(parts)).digest().readUInt32LE(0);
      const message = { role: "assistant", content: `${prose(seed, REPLY_BYTES)}\n{"guess": ${seed % 100}}` };
      const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      const body = JSON.stringify({ id: "1", object: "chat.completion", created: 1, model: "talker", choices, usage });
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** How long a session of 100 MB takes to open, in a process that has not parsed it before. */
async function large(browser) {
  const server = await talker();
  writeFileSync(
    join(folder, "talker.toml"),
    `[providers.talker]\nbase_url = "http://127.0.0.1:${server.address().port}/v1"\nkeys = []\n` +
      `[models.talker]\nprovider = "talker"\n`,
  );
  writeFileSync(
    join(folder, "large.toml"),
    `name = "large"\n[players.m]\nkind = "model"\nmodel = "talker"\nmax_output_tokens = 2000\n[[games]]\n` +
      `game = "guess_two_thirds"\nparams = { rounds = 2200 }\nseats = [{ player = "m", count = 10 }]\n`,
  );
  const began = performance.now();
  const playing = spawn(AGON, ["run", "large.toml", "--quiet", "--config", "talker.toml", "--data", "long"], { cwd: folder, stdio: "ignore" });
  started.push(playing);
  let played = 0;
  const watch = setInterval(() => (played = Math.max(played, status(playing.pid, "VmHWM"))), 200);
  const code = await new Promise((ended) => playing.on("exit", ended));
  clearInterval(watch);
  server.close();
  const record = join(folder, "long/runs/large/records.jsonl");
  const megabytes = (statSync(record).size / 1e6).toFixed(1);
  console.log(
    `a session of ${megabytes} MB and 22,000 calls is played in ${((performance.now() - began) / 1000).toFixed(0)} s, ` +
      `in ${Math.round(played / 1024)} MB (exit ${code})`,
  );
  for (const time of ["first", "second", "third"]) {
    const since = performance.now();
    const { child, found: address } = await start(PAGES, "view", "--data", "long", "--listen", "127.0.0.1:0");
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForSelector("h1");
    const origin = new URL(address).origin;
    const ask = async (path) => (await page.request.get(`${origin}/api/v1${path}`)).json();
    let sessions = [];
    while (sessions.length === 0) {
      ({ sessions = [] } = await ask("/runs/large/sessions"));
      if (sessions.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const listed = Math.round(performance.now() - since);
    const fresh = await context.newPage();
    const opened = performance.now();
    const passed = () => Math.round(performance.now() - opened);
    await fresh.goto(`${origin}/sessions/${sessions[0].session}`, { waitUntil: "commit" });
    await fresh.getByRole("region", { name: "Board" }).getByText("As a table").waitFor();
    const board = passed();
    const selected = fresh.getByRole("listbox", { name: "Timeline" }).getByRole("option", { selected: true });
    await selected.waitFor();
    const timeline = passed();
    const slider = fresh.getByRole("slider", { name: "Step" });
    const last = await slider.getAttribute("max");
    const pressed = performance.now();
    await fresh.keyboard.press("End");
    await selected.and(fresh.locator(`[aria-posinset="${Number(last) + 1}"]`)).waitFor();
    await fresh.waitForFunction(() => /: \S/.test(document.querySelector("input[type=range]")?.getAttribute("aria-valuetext") ?? ""));
    const jumped = Math.round(performance.now() - pressed);
    console.log(
      `${time} time: listed ${listed} ms after the start; its board is there after ${board} ms, its timeline after ` +
        `${timeline} ms (bar: 2 s), the last of ${last} steps ${jumped} ms after it was asked for; ` +
        `${Math.round(status(child.pid, "VmHWM") / 1024)} MB`,
    );
    if (time === "third") {
      const before = performance.now();
      const call = await page.request.get(`${origin}/api/v1/sessions/${sessions[0].session}/decisions/9/2199`);
      const shown = (await call.json()).reply?.length;
      console.log(
        `its last call (${shown} letters) is there ${((performance.now() - before) / 1000).toFixed(1)} s after it was asked ` +
          `for, ${Math.round(status(child.pid, "VmHWM") / 1024)} MB`,
      );
    }
    await context.close();
    child.removeAllListeners("exit");
    child.kill();
  }
}

const SECTIONS = { stored, live, large };
const wanted = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const [name, section] of Object.entries(SECTIONS)) {
    if (wanted.length === 0 || wanted.includes(name)) await section(browser);
  }
} finally {
  await browser.close();
  for (const child of started) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
  rmSync(folder, { recursive: true, force: true });
}
