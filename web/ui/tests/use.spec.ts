// What a reader does on the pages: signing in, filtering, stepping, copying an address, reading a call.

import { expect, type Page } from "@playwright/test";
import type { Board, SessionPage, Steps } from "../src/lib/api";
import { TOKEN } from "./mock";
import { complaintsOf, enter, test } from "./pages";

const session = "/sessions/guess-two-thirds-0001";

const slider = (page: Page) => page.getByRole("slider", { name: "Step" });
const timeline = (page: Page) => page.getByRole("listbox", { name: "Timeline" });
const path = (page: Page) => new URL(page.url()).pathname + new URL(page.url()).search;

test("a reader without a token is asked for one, and a wrong one is refused", async ({ page, address }) => {
  await page.goto(`${address}/runs/trial`);
  await expect(page.getByText("The program prints an access token.")).toBeVisible();
  await page.getByLabel("Access token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toHaveText("This token is not known.");
  await page.getByLabel("Access token").fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Guessing and bidding, trial");
});

test("the token of a link is erased from the address", async ({ page, address }) => {
  await page.goto(`${address}/runs/trial#token=${encodeURIComponent(TOKEN)}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Guessing and bidding, trial");
  expect(page.url()).toBe(`${address}/runs/trial`);
});

test("an error of the server is told with another try", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/sessions/unknown`);
  await expect(page.getByRole("alert")).toContainText("There is no such run or session.");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
});

test("a cell and a search filter the sessions, and the address keeps them", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/runs/trial`);
  await expect(page.getByText("100 of 2,400 sessions")).toBeVisible();
  await page.getByRole("button", { name: "Show 100 more" }).click();
  await expect(page.getByText("200 of 2,400 sessions")).toBeVisible();
  await page.getByRole("button", { name: /^factor 2\/3, players mixed/ }).click();
  await expect(page.getByText("100 of 200 sessions")).toBeVisible();
  await page.getByRole("searchbox").fill("0012");
  await expect(page.getByText("1 session", { exact: true })).toBeVisible();
  await expect.poll(() => path(page)).toBe("/runs/trial?cell=4&search=0012");
  await page.reload();
  await expect(page.getByText("1 session", { exact: true })).toBeVisible();
});

test("keys move by step and by turn, and the address opens the same moment", async ({ page, address }) => {
  const complaints = complaintsOf(page);
  await enter(page, address);
  await page.goto(address + session);
  await expect(slider(page)).toHaveValue("0");
  for (const [key, step] of [["ArrowRight", "1"], ["ArrowRight", "2"], ["ArrowLeft", "1"], ["PageDown", "4"], ["PageDown", "7"], ["PageUp", "4"], ["End", "30"], ["Home", "0"], ["PageDown", "1"]] as const) {
    await page.keyboard.press(key);
    await expect(slider(page)).toHaveValue(step);
  }
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => path(page)).toBe(`${session}?at=2`);
  await expect(slider(page)).toHaveAttribute("aria-valuetext", /Step 2 of 30: The mean is/);
  await page.reload();
  await expect(slider(page)).toHaveValue("2");
  await expect(page.getByRole("heading", { name: "Result of round 1" })).toBeVisible();
  expect(complaints).toEqual([]);
});

test("space plays and pauses, except on a button", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=28`);
  await page.getByLabel("Speed").selectOption("4");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
  await expect(slider(page)).toHaveValue("30", { timeout: 10_000 });
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
});

test("a seat sees its own steps and nothing hidden", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=14`);
  await expect(page.getByText("Seen by nobody in play")).toBeVisible();
  await page.getByLabel("View").selectOption("0");
  await expect(page.getByText("Seen by nobody in play")).toBeHidden();
  await page.getByRole("button", { name: "Next step" }).click();
  await expect(page.getByRole("heading", { name: "Seat A did not see this step" })).toBeVisible();
  await expect.poll(() => path(page)).toBe(`${session}?at=15&seat=0`);
});

test("a call is shown with its messages, and the next one follows", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=4`);
  await page.getByRole("button", { name: "Call 2 of Ada" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("3 messages repeated from the previous call")).toBeVisible();
  await expect(dialog.getByText("verified by the recorded digest")).toBeVisible();
  await expect.poll(() => path(page)).toBe(`${session}?at=4&decision=0.1`);
  await dialog.getByRole("button", { name: "Next call" }).click();
  await expect(dialog.getByText("further characters")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect.poll(() => path(page)).toBe(`${session}?at=4`);
});

test("hostile text stays text, and its direction mark is told", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=4`);
  await expect(page.getByText("[U+202E]15 <script>alert(1)</script> [U+0007]").first()).toBeVisible();
});

test("a long session keeps only the rows in view, and a search finds its steps", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}/sessions/long-0001?at=29990`);
  await expect(timeline(page).getByRole("option", { selected: true })).toHaveAttribute("aria-posinset", "29991");
  expect(await timeline(page).getByRole("option").count()).toBeLessThan(40);
  await page.getByRole("searchbox", { name: "Search the steps" }).fill("hostile words that nobody said");
  await expect(page.getByText("No step contains these words.")).toBeVisible();
  await page.getByRole("searchbox", { name: "Search the steps" }).fill("begin to guess");
  await expect(page.getByText("968 found")).toBeVisible();
  await page.getByRole("button", { name: "Previous match" }).click();
  await expect(slider(page)).toHaveValue("29977");
  await page.getByRole("searchbox", { name: "Search the steps" }).fill("e");
  await expect(page.getByText(/^[\d,]+ found; the first 1,000 can be visited$/)).toBeVisible();
});

test("a paired session stands beside it in step", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=14`);
  await page.getByLabel("Compare with").selectOption("guess-half-0001");
  const other = page.getByRole("region", { name: "Compared session" });
  await expect(other.getByRole("heading", { name: "Round 5 of 10" })).toBeVisible();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("PageDown");
  await expect(other.getByRole("heading", { name: "Round 6 of 10" })).toBeVisible();
});

test("the timeline is a list that the arrow keys walk", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=3`);
  const list = timeline(page);
  await list.focus();
  await page.keyboard.press("ArrowDown");
  await expect(list).toHaveAttribute("aria-activedescendant", "step-4");
  await expect(timeline(page).getByRole("option", { selected: true })).toContainText("The players guess");
});

test("a seat that does not exist is told, and nothing waits for its steps", async ({ page, address }) => {
  await enter(page, address);
  await page.route("**/steps?*", (route) => route.fulfill({ status: 404, json: { error: "There is no seat 77." } }));
  await page.goto(`${address}${session}?at=3&seat=77`);
  await expect(page.getByRole("alert")).toContainText("There is no seat 77.");
  await expect(page.getByRole("heading", { name: "The step cannot be shown" })).toBeVisible();
  await expect(page.getByText("Loading the step…")).toBeHidden();
  await expect(timeline(page).getByText("Cannot be shown").first()).toBeVisible();
});

test("a session that cannot stand beside this one leaves a small card", async ({ page, address }) => {
  await enter(page, address);
  await page.goto(`${address}${session}?at=14&with=nix`);
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("There is no such run or session.");
  expect((await alert.boundingBox())!.height).toBeLessThan(120);
});

test("an auction before its first item names no item", async ({ page, address }) => {
  await enter(page, address);
  await showing(page, "rising", (board) => ({
    ...board,
    scene: { ...board.scene, place: 0, items: 10, item: "", starting_price: 0, highest: null, leader: null, sold: null, true_value: null, lots: [] },
  }));
  await page.goto(`${address}/sessions/auction-english-0007`);
  const board = page.getByRole("region", { name: "Board" });
  await expect(board.getByText("No item is up yet")).toBeVisible();
  await expect(board.getByText(/of 10|bids start at/)).toHaveCount(0);
});

test("a resident who died is out and has no health", async ({ page, address }) => {
  await enter(page, address);
  const house = { alive: true, health: 5, most_health: 10, balance: 70, dry_days: 1, needs: 8, bid: null, won: false };
  await showing(page, "line", (board) => ({
    ...board,
    scene: { scene: "town", supply: 12, houses: [{ ...house, seat: 0 }, { ...house, seat: 1, alive: false, health: null, balance: null, dry_days: null }] },
  }));
  await page.goto(address + session);
  const board = page.getByRole("region", { name: "Board" });
  await expect(board.getByText("5 of 10 health")).toBeVisible();
  await expect(board.getByText("out", { exact: true })).toBeVisible();
  await expect(board.getByText("health not known")).toHaveCount(0);
});

test("runs name games by their titles, and are listed again while sessions finish", async ({ page, address }) => {
  let done = 10;
  let sessions = 10;
  const sweep = () => ({ run: "live", experiment: "Live", team: "", state: "running", done, sessions: 50, running: 2, waiting: 38, set_aside: 0, faults: [], budget: null, cost: null, per_minute: null, reason: null, seconds_left: null });
  await page.route("**/api/v1/runs", (route) =>
    route.fulfill({ json: { runs: [{ run: "live", experiment: "Live", place: "here", sessions, games: ["el_farol", "diners_dilemma"], players: ["a"], simulated: false }] } }),
  );
  await page.route("**/api/v1/sweeps", (route) => route.fulfill({ json: { sweeps: [sweep()] } }));
  await page.route("**/api/v1/sweeps/events", (route) =>
    route.fulfill({ contentType: "text/event-stream", body: `retry: 300\nevent: sweeps\ndata: ${JSON.stringify([sweep()])}\n\n` }),
  );
  await enter(page, address);
  const run = page.locator("li", { has: page.getByRole("heading", { level: 2, name: "Live" }) }).filter({ hasText: "Records" });
  await expect(run).toContainText("El Farol Bar and Diner's Dilemma");
  await expect(run).toContainText("10 sessions");
  [done, sessions] = [20, 20];
  await expect(run).toContainText("20 sessions");
});

test("words in the table of sessions stay whole", async ({ page, address }) => {
  await page.setViewportSize({ width: 1280, height: 860 });
  await enter(page, address);
  await page.route("**/runs/trial/sessions?*", async (route) => {
    const answer = (await (await route.fetch()).json()) as SessionPage;
    for (const [at, row] of answer.sessions.entries()) {
      row.session = "0123456789abcdef".repeat(2) + at;
      row.players = Array.from({ length: 12 }, (_, seat) => `player_${seat}`).join(", ");
      row.payoffs = Array.from({ length: 12 }, (_, seat) => `${seat}38.25`).join(", ");
      row.notes = "simulated";
    }
    await route.fulfill({ json: answer });
  });
  await page.goto(`${address}/runs/trial`);
  const heads = page.getByRole("columnheader");
  await expect(heads.filter({ hasText: "Repeat" })).toBeVisible();
  const lines = await page.locator("[aria-labelledby=sessions] :is(th, [data-name=Notes])").evaluateAll((cells) =>
    cells.slice(0, 40).map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size;
    }),
  );
  expect(Math.max(...lines)).toBe(1);
});

/** Shows another board at every step whose scene is of this kind. */
async function showing(page: Page, scene: string, board: (before: Board) => unknown): Promise<void> {
  await page.route("**/steps?*", async (route) => {
    const answer = (await (await route.fetch()).json()) as Steps;
    const steps = answer.steps.map((one) => (one.board.scene.scene === scene ? { ...one, board: board(one.board) } : one));
    await route.fulfill({ json: { ...answer, steps } });
  });
}
