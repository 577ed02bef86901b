// What tests share in which a person plays in a browser against the real binary: looking for the question,
// answering until the game is over, screenshots in both themes and widths.

import { expect, type Page } from "@playwright/test";
import { faults } from "../axe";

const SHOTS = process.env.SHOTS;

/** Every game but judging. Whoever adds a game adds it here. */
export const GAMES = [
  "guess_two_thirds",
  "divide_dollar",
  "public_goods",
  "diners_dilemma",
  "el_farol",
  "sealed_bid_auction",
  "battle_royale",
  "pirate",
  "english_auction",
  "water_allocation",
  "beauty_contest",
  "second_price_auction",
  "ascending_auction",
  "guess_to_survive",
];

/** Screenshots in both themes and widths, into the folder named by SHOTS. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!SHOTS) return;
  for (const [width, height] of [
    [1280, 900],
    [400, 860],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: `${SHOTS}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** No fault at both widths and in both themes, and nothing wider than the page. */
export async function expectGood(page: Page): Promise<void> {
  for (const width of [1280, 400]) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 860 });
      expect(await faults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

export const turn = (page: Page) => page.getByRole("heading", { name: /^Your turn/ });

/** The name of what is asked; empty where nothing is. */
export const askOf = (page: Page) =>
  page.evaluate(() => document.querySelector("form.ask")?.getAttribute("data-ask") ?? "");

/** Answers until the game is over; `act` answers one question. */
export async function play(page: Page, act: () => Promise<void>): Promise<number> {
  const over = page.getByRole("heading", { name: "The game is over" });
  for (let count = 0; ; count += 1) {
    await expect(turn(page).or(over)).toBeVisible({ timeout: 30_000 });
    if (await over.isVisible()) return count;
    const asked = await askOf(page);
    await act();
    // The next question, or the wait for it.
    await expect.poll(() => askOf(page), { timeout: 30_000 }).not.toBe(asked);
  }
}
