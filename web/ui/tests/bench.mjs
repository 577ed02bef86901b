// Prints the figures of the bars of pages, with the release binary (AGON): first paint of each page with
// 100,000 sessions stored, and what a page that follows a sweep costs the server. Decides nothing.
// Run it with `node web/ui/tests/bench.mjs`; SESSIONS sets how many there are.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await stored(browser);
  await live(browser);
} finally {
  await browser.close();
  for (const child of started) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
  rmSync(folder, { recursive: true, force: true });
}
