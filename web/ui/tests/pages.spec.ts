// Every page in two widths and both colours: no complaint of the policy, and nothing that axe finds.
// Screenshots go to the folder named by SHOTS, if it is set.

import { expect, type Page } from "@playwright/test";
import { faults } from "./axe";
import { complaintsOf, enter, test } from "./pages";

const shots = process.env.SHOTS;
const session = "/sessions/guess-two-thirds-0001";

const PAGES = [
  { name: "runs", path: "/", heading: "Runs" },
  { name: "run", path: "/runs/trial", heading: "Guessing and bidding, trial" },
  { name: "run-list", path: "/runs/auctions?measure=regret&cell=1", heading: "English auctions with budgets" },
  { name: "session", path: `${session}?at=14`, heading: "Guess the number" },
  { name: "session-answers", path: `${session}?at=4&seat=1`, heading: "Guess the number" },
  { name: "session-two", path: `${session}?at=14&with=guess-half-0001`, heading: "Guess the number" },
  { name: "auction", path: "/sessions/auction-english-0007?at=9", heading: "English Auction" },
  { name: "decision", path: `${session}?at=13&decision=0.4`, heading: "Guess the number" },
  { name: "long", path: "/sessions/long-0001?at=29990", heading: "Guess the number" },
  { name: "results", path: "/results", heading: "Results" },
  { name: "results-narrowed", path: "/results?run=trial&player=sim-large&where.factor=2%2F3&view=measures", heading: "Results" },
  { name: "results-figures", path: "/results?view=figures", heading: "Results" },
  { name: "results-none", path: "/results?player=nobody", heading: "Results" },
  { name: "results-sessions", path: "/results/sessions?game=guess_the_number&setting=%7B%22factor%22%3A%221%2F2%22%7D&simulated=true", heading: "Sessions" },
  { name: "error", path: "/sessions/unknown", heading: "The session cannot be shown" },
  { name: "none", path: "/nowhere", heading: "Page not found" },
];

for (const width of [1280, 400]) {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const { name, path, heading } of PAGES) {
      test(`${name} at ${width} in ${colorScheme} has no fault`, async ({ browser, address }) => {
        const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
        const page = await context.newPage();
        const complaints = complaintsOf(page);
        await enter(page, address);
        await page.goto(address + path);
        await expect(page.locator("h1", { hasText: heading })).toBeVisible();
        await page.waitForLoadState("networkidle");
        if (shots) await shoot(page, `${shots}/${name}-${width}-${colorScheme}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, "the page scrolls sideways").toBeLessThanOrEqual(0);
        expect(complaints).toEqual([]);
        expect(await faults(page)).toEqual([]);
        await context.close();
      });
    }
  }
}

test("the sign-in page has no fault", async ({ page, address }) => {
  const complaints = complaintsOf(page);
  await page.goto(address);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  if (shots) await shoot(page, `${shots}/sign-in`);
  expect(complaints).toEqual([]);
  expect(await faults(page)).toEqual([]);
});

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${name}.png` });
  await page.screenshot({ path: `${name}-full.png`, fullPage: true });
}
