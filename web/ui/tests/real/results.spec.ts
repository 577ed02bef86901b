// Results of the real binary in a real browser, at its server and in a published site on a plain host of files.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { faults } from "../axe";
import { complaintsOf } from "../pages";
import { PAGES, Stand } from "./agon";
import { serveFiles } from "./files";

const SHOTS = process.env.SHOTS;

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202E [[40]] 40';

const DIVIDING = `name = "dividing"
repeats = 6
[players.m]
kind = "model"
model = "any"
reply = "text"
[players.r]
kind = "rule"
strategy = "random"
[[games]]
game = "divide_dollar"
params = { rounds = 3 }
seats = ["m", "r"]
[grid]
"params.golds" = [100, 200]
`;

const RULES = `name = "rules"
repeats = 4
[players.r]
kind = "rule"
strategy = "random"
[[games]]
game = "battle_royale"
seats = [{ player = "r", count = 4 }]
[[games]]
game = "english_auction"
seats = [{ player = "r", count = 3 }]
`;

async function play(stand: Stand): Promise<void> {
  const model = await stand.model(() => HOSTILE);
  await stand.agon("run", stand.write("dividing.toml", DIVIDING), "--quiet", "--data", "data", "--base-url", model);
  await stand.agon("run", stand.write("rules.toml", RULES), "--quiet", "--data", "data");
}

async function saved(page: Page, name: string): Promise<string> {
  const link = page.getByRole("link", { name, exact: true }).first();
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  return readFileSync(await download.path(), "utf8");
}

test.describe("at the server", () => {
  let stand: Stand;
  let address = "";

  test.beforeAll(async () => {
    stand = new Stand();
    await play(stand);
    address = await stand.start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0");
  });
  test.afterAll(() => stand.close());

  test("results are narrowed, saved as the command line has them, and lead to their sessions", async ({ page }) => {
    const complaints = complaintsOf(page);
    await page.goto(address);
    await page.getByRole("link", { name: "Results" }).click();
    await expect(page.getByRole("link", { name: "20 sessions" })).toBeVisible();
    await page.getByRole("combobox", { name: "Run", exact: true }).selectOption("dividing");
    await page.getByLabel("params.golds").selectOption("200");
    await expect(page.getByRole("link", { name: "6 sessions" })).toBeVisible();
    await page.getByRole("link", { name: "Measures" }).click();
    const table = page.getByRole("table").first();
    await expect(table).toContainText("divide_dollar");
    const rows = await table.locator("tbody tr").evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("td")].slice(0, -1).map((cell) => cell.textContent?.trim() ?? "")),
    );
    const report = await stand.agon("report", "dividing", "--data", "data", "--where", "golds=200", "--format", "markdown");
    for (const row of rows) expect(report.replaceAll("\\_", "_")).toContain(`| ${row.join(" | ")} |`);
    expect(rows.length).toBeGreaterThan(1);
    expect(await saved(page, "CSV of this table")).toContain("divide_dollar");
    expect(await faults(page)).toEqual([]);
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/real-results.png`, fullPage: true });
    await page.getByRole("link", { name: "Figures" }).click();
    const figures = page.getByRole("img");
    await expect(figures.first()).toBeVisible();
    await expect.poll(() => figures.first().evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(100);
    const figure = await page.getByText(/^agon figure /).first().textContent();
    const name = figure?.replace("agon figure ", "") ?? "";
    await stand.agon("figure", name, "dividing", "--data", "data", "--where", "golds=200", "-o", "figure.svg");
    expect(await saved(page, "SVG")).toBe(readFileSync(join(stand.folder, "figure.svg"), "utf8"));
    expect(await faults(page)).toEqual([]);
    await page.getByText("Numbers and sessions").first().click();
    await page.getByRole("link", { name: /^show the sessions of/ }).first().click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sessions");
    await expect(page.getByText("6 sessions", { exact: true })).toBeVisible();
    await page.getByRole("table").getByRole("link").first().click();
    await expect(page.getByRole("slider", { name: "Step" })).toBeVisible();
    expect(complaints).toEqual([]);
  });
});

test.describe("a published site", () => {
  let stand: Stand;

  test.beforeAll(async () => {
    stand = new Stand();
    await play(stand);
    await stand.agon("publish", "dividing", "rules", "--data", "data", "-o", "host/papers/site", "--quiet");
  });
  test.afterAll(() => stand.close());

  for (const packs of [false, true]) {
    test(`is read on a plain host${packs ? " that unpacks files" : ""}`, async ({ page }) => {
      const { server, address } = await serveFiles(join(stand.folder, "host"), packs);
      try {
        const complaints = complaintsOf(page);
        const elsewhere: string[] = [];
        const missing: string[] = [];
        page.on("request", (request) => {
          if (!request.url().startsWith(`${address}/papers/site/`)) elsewhere.push(request.url());
        });
        page.on("response", (response) => {
          if (response.status() >= 400) missing.push(response.url());
        });
        await page.goto(`${address}/papers/site/`);
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Runs");
        await expect(page.getByText("agon verify records/dividing")).toBeVisible();
        expect(await faults(page)).toEqual([]);
        await page.getByRole("link", { name: "dividing" }).first().click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("dividing");
        await expect(page.getByText("12 sessions", { exact: true })).toBeVisible();
        await page.getByRole("table").last().getByRole("link").first().click();
        const slider = page.getByRole("slider", { name: "Step" });
        const last = Number(await slider.getAttribute("max"));
        await page.keyboard.press("End");
        await expect(slider).toHaveValue(String(last));
        await page.keyboard.press("Home");
        await page.keyboard.press("ArrowRight");
        await expect(slider).toHaveValue("1");
        await page.getByRole("button", { name: "Show call" }).first().click();
        const dialog = page.getByRole("dialog");
        await expect(dialog).toContainText('<img src=x onerror="document.title=1">');
        await expect(dialog).toContainText("verified by the recorded digest");
        await expect(dialog.locator("img, script")).toHaveCount(0);
        // A call of a conversation is put together out of those before it.
        await dialog.getByRole("button", { name: "Next call" }).click();
        await dialog.getByText(/repeated from the previous call/).click();
        await expect(dialog.getByText("system", { exact: true })).toBeVisible();
        await page.keyboard.press("Escape");
        // An address of a moment opens it again.
        await expect(page).not.toHaveURL(/decision/);
        const moment = page.url();
        expect(moment).toContain("/papers/site/#/sessions/");
        await page.goto("about:blank");
        await page.goto(moment);
        await expect(slider).toHaveValue("1");
        await page.getByLabel("Search the steps").fill("player_0");
        await expect(page.getByText(/(^| )[1-9][\d,]* found/)).toBeVisible();
        await page.getByLabel("View").selectOption({ index: 1 });
        await expect(page).toHaveURL(/seat=0/);
        await expect(page.getByText(/Loading/)).toHaveCount(0);
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/site-session.png` });
        await page.getByRole("link", { name: "Results" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toHaveText("Results");
        await page.getByRole("combobox", { name: "Run", exact: true }).selectOption("rules");
        await expect(page.getByRole("link", { name: "8 sessions" })).toBeVisible();
        await page.getByRole("link", { name: "Measures" }).click();
        expect(await saved(page, "CSV of this table")).toContain("battle_royale");
        await page.getByRole("link", { name: /^show the sessions of/ }).first().click();
        await expect(page.getByText("4 sessions", { exact: true })).toBeVisible();
        await page.goBack();
        await page.getByRole("link", { name: "Figures" }).click();
        const figure = page.getByRole("img").first();
        await expect.poll(() => figure.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(100);
        expect(await saved(page, "SVG")).toMatch(/^<svg/);
        expect(await faults(page)).toEqual([]);
        if (SHOTS) await page.screenshot({ path: `${SHOTS}/site-results.png` });
        await expect(page.getByText("Sign in")).toHaveCount(0);
        expect(elsewhere).toEqual([]);
        expect(missing).toEqual([]);
        expect(complaints).toEqual([]);
        expect(await page.title()).not.toMatch(/^[12]$/);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }
});
