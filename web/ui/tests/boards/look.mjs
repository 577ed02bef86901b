// Photographs the gallery: node look.mjs [--axe] [scene ...]. Complains of console messages and of what is cut.
import { chromium } from "@playwright/test";
import { createServer } from "node:http";
import { readFile, mkdir } from "node:fs/promises";
import { extname, join } from "node:path";

const FOLDER = "/tmp/gallery";
const OUT = "/tmp/gallery-shots";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const ALL = [
  "line",
  "room",
  "table",
  "pot",
  "share",
  "envelopes",
  "rising",
  "clock",
  "circle",
  "crew",
  "town",
  "criteria",
  "facts",
];
const asked = process.argv.slice(2).filter((word) => word !== "--axe");
const scenes = asked.length > 0 ? asked : ALL;
const withAxe = process.argv.includes("--axe");

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  try {
    const body = await readFile(join(FOLDER, path));
    response
      .writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" })
      .end(body);
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
const base = `http://127.0.0.1:${server.address().port}/gallery.html`;
await mkdir(OUT, { recursive: true });
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const axe = await readFile(
  new URL("../../node_modules/axe-core/axe.min.js", import.meta.url),
  "utf8",
);

for (const [width, colorScheme] of [
  [900, "light"],
  [360, "dark"],
  [900, "dark"],
  [360, "light"],
  [320, "light"],
]) {
  const size = { width: width + (width > 700 ? 24 : 0), height: 800 };
  const context = await browser.newContext({
    viewport: size,
    colorScheme,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.on(
    "console",
    (message) =>
      message.text().includes("404") ||
      console.log(width, colorScheme, message.type(), message.text().slice(0, 300)),
  );
  page.on("pageerror", (error) =>
    console.log(width, colorScheme, "error", String(error).slice(0, 300)),
  );
  for (const scene of scenes) {
    await page.goto(`${base}?scene=${scene}`);
    await page.waitForTimeout(150);
    const found = await page.evaluate(checks);
    for (const line of new Set(found)) console.log(width, colorScheme, scene, line);
    if (width === 360) {
      await page.setViewportSize({ width: 1480, height: 800 });
      await page.goto(`${base}?scene=${scene}&narrow`);
      await page.waitForTimeout(150);
    }
    if (width !== 320)
      await page.screenshot({
        path: `${OUT}/${scene}-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    await page.setViewportSize(size);
    if (!withAxe) continue;
    await page.goto(`${base}?scene=${scene}&open`);
    await page.evaluate(axe);
    const report = await page.evaluate(() =>
      globalThis.axe.run(document.getElementById("gallery"), {
        rules: { region: { enabled: false }, "heading-order": { enabled: false } },
      }),
    );
    for (const fault of report.violations)
      console.log(
        width,
        colorScheme,
        scene,
        "axe",
        fault.id,
        fault.nodes.length,
        fault.nodes[0].html.slice(0, 160),
        fault.nodes[0].any[0]?.message ?? "",
      );
  }
  await context.close();
}
await browser.close();
server.close();

/** What can be measured: nothing wider than the page, no text below 12 px, no text cut by its picture, no texts over each other. */
function checks() {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`page is ${document.documentElement.scrollWidth} wide`);
  for (const shot of document.querySelectorAll(".gallery-shot")) {
    const state = shot.querySelector(".gallery-state").textContent;
    const board = shot.querySelector(".board").getBoundingClientRect();
    for (const node of shot.querySelectorAll(".board *")) {
      const own = [...node.childNodes].some(
        (child) => child.nodeType === 3 && child.textContent.trim() !== "",
      );
      if (!own || node.closest("details")) continue;
      const box = node.getBoundingClientRect();
      const name = `${state}: "${node.textContent.trim().slice(0, 24)}"`;
      if (parseFloat(getComputedStyle(node).fontSize) < 12) faults.push(`${name} small text`);
      if (box.left < board.left - 1 || box.right > board.right + 1) {
        const clip = node.closest(".name, .who-name, .dish, .item, .mark");
        if (!clip || clip.getBoundingClientRect().right > board.right + 1)
          faults.push(
            `${name} leaves the board ${Math.round(box.left - board.left)}..${Math.round(box.right - board.left)} of ${Math.round(board.width)}`,
          );
      }
    }
    for (const picture of shot.querySelectorAll("svg[role=img]")) {
      const frame = picture.getBoundingClientRect();
      const texts = [...picture.querySelectorAll("text:not(.star)")];
      const boxes = texts.map((text) => text.getBoundingClientRect());
      boxes.forEach((box, index) => {
        if (box.top < frame.top - 2 || box.bottom > frame.bottom + 3)
          faults.push(`${state}: "${texts[index].textContent}" is cut`);
        for (let other = 0; other < index; other += 1) {
          const that = boxes[other];
          const across = Math.min(box.right, that.right) - Math.max(box.left, that.left);
          const down = Math.min(box.bottom, that.bottom) - Math.max(box.top, that.top);
          if (across > 1 && down > 4)
            faults.push(
              `${state}: "${texts[index].textContent}" over "${texts[other].textContent}"`,
            );
        }
      });
    }
  }
  return faults;
}
