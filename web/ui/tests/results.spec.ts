// What a reader does with results: narrowing them, sharing an address, following a row to its sessions, saving.

import { readFileSync } from "node:fs";
import { expect, type Page } from "@playwright/test";
import { complaintsOf, enter, test } from "./pages";
import { HOSTILE, SVG } from "./results";

const path = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search;

async function saved(page: Page, name: string, within = page.locator("main")): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download"), within.getByRole("link", { name, exact: true }).first().click()]);
  return readFileSync(await download.path(), "utf8");
}

test("results say how many sessions are counted, and go on by themselves", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/results?where.pace=slow`);
  await expect(page.getByText(/^(624|1,248|1,872) of 2,496 sessions counted$/)).toBeVisible();
  await expect(page.getByRole("progressbar", { name: "Sessions counted" })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "Over 2,496 sessions" })).toBeVisible();
  await expect(page.getByText("1,200 of these sessions were played by SIMULATED models")).toBeVisible();
});

test("nothing is said for good while sessions are being counted", async ({ page, address }) => {
  await enter(page, address);
  await page.route("**/api/v1/results?*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), counted: 600, simulated: 600 } });
  });
  await page.route("**/api/v1/results/tables/**", (route) => route.fulfill({ json: { counted: 600, blocks: [] } }));
  await page.goto(`${address}/results?run=trial`);
  await expect(page.getByText("All of the sessions counted so far were played by SIMULATED models")).toBeVisible();
  await expect(page.getByText("The sessions counted so far have nothing to show here.")).toBeVisible();
  await expect(page.getByText("no two players can be compared")).toBeHidden();
  await expect(page.getByText("600 sessions simulated")).toBeVisible();
});

test("numbers of other filters do not stand beside an error", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/results`);
  await expect(page.getByRole("table")).toBeVisible();
  await page.route("**/api/v1/results?*", (route) => route.fulfill({ status: 422, json: { error: "No run has this axis." } }));
  await page.getByLabel("factor").selectOption("2/3");
  await expect(page.getByRole("alert")).toContainText("No run has this axis.");
  await expect(page.getByRole("table")).toHaveCount(0);
  await page.getByRole("link", { name: "Results without filters" }).click();
  await expect.poll(() => path(page)).toBe("/results");
});

test("a figure that cannot be drawn says so", async ({ page, address }) => {
  await enter(page, address);
  let isBroken = true;
  await page.route("**/figure.svg*", (route) => (isBroken ? route.fulfill({ status: 422, json: { error: "no" } }) : route.continue()));
  await page.goto(`${address}/results?view=figures`);
  await expect(page.getByRole("alert")).toContainText("The figure could not be loaded.");
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("img", { name: /^Payoffs by player/ })).toBeVisible();
});

test("filters stand in the address, which opens the same results again", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/results`);
  await page.getByRole("combobox", { name: "Run", exact: true }).selectOption("trial");
  await page.getByLabel("factor").selectOption("2/3");
  await page.getByLabel("With player").selectOption("sim-large");
  await expect(page.getByRole("link", { name: "600 sessions" })).toBeVisible();
  await expect.poll(() => path(page)).toBe("/results?run=trial&where.factor=2%2F3&player=sim-large");
  await page.getByRole("link", { name: "Measures" }).click();
  await page.reload();
  await expect(page.getByLabel("factor")).toHaveValue("2/3");
  await expect(page.getByRole("columnheader", { name: "measure 0" })).toBeVisible();
  await page.getByRole("link", { name: "600 sessions" }).click();
  await expect.poll(() => path(page)).toBe("/results/sessions?player=sim-large&run=trial&where.factor=2%2F3");
  await page.goBack();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await expect.poll(() => path(page)).toBe("/results?view=measures");
  await page.getByLabel("Published beside it").selectOption({ label: "Some paper" });
  await expect.poll(() => path(page)).toBe("/results?view=published-some-paper");
});

test("a row leads to its sessions, and a point of a figure too", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/results?run=trial`);
  await page.getByRole("link", { name: "show the sessions of sim-large" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sessions");
  const query = new URL(page.url()).searchParams;
  expect(Object.fromEntries(query)).toEqual({
    game: "guess_the_number",
    player: "sim-large",
    run: "trial",
    setting: '{"factor":"1/2"}',
    simulated: "true",
  });
  await expect(page.getByRole("list", { name: "Filters" })).toContainText("factor 1/2");
  await page.getByRole("link", { name: "Results of these sessions" }).click();
  await page.getByRole("link", { name: "Figures" }).click();
  await page.getByText("Numbers and sessions").click();
  await expect(page.getByRole("link", { name: "show the sessions of sim-large" })).toBeVisible();
});

test("tables and figures are saved as they are shown", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/results?run=trial&where.factor=1%2F2`);
  expect(await saved(page, "CSV of this table")).toContain("'=cmd,600");
  await page.getByRole("link", { name: "Figures" }).click();
  const image = page.getByRole("img", { name: /^Payoffs by player/ });
  await expect.poll(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBeGreaterThan(0);
  expect(await saved(page, "SVG")).toBe(SVG);
  expect(await saved(page, "CSV")).toContain("600");
});

test("names of others are text, and intervals are numbers and bars", async ({ page, address }) => {
  const complaints = complaintsOf(page);
  await enter(page, address);
  await page.goto(`${address}/results?run=trial`);
  const table = page.getByRole("table");
  await expect(table).toContainText('=cmd|[U+202E]me <img src=x onerror="document.title=1">');
  await expect(table).not.toContainText(HOSTILE.slice(5, 6));
  await expect(table.locator("img, script")).toHaveCount(0);
  await expect(table.getByRole("row", { name: /sim-large/ })).toContainText("38.50 to 44.50");
  const bars = table.locator("svg");
  await expect(bars).toHaveCount(3);
  const ends = await bars.first().locator(".interval").evaluate((line) => [line.getAttribute("x1"), line.getAttribute("x2")].map(Number));
  expect(ends[1]).toBeGreaterThan(ends[0]!);
  await expect(bars.nth(2).locator(".interval")).toHaveCount(0);
  expect(complaints).toEqual([]);
});
