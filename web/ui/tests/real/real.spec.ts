// Pages of the real binary in a real browser: every game is opened and stepped through, a sweep is watched
// to its end, what models write stays text, and a seat's view holds nothing of others.

import { expect, type Page, test } from "@playwright/test";
import { complaintsOf, follow } from "../pages";
import { faults } from "../axe";
import { originOf, PAGES, Stand } from "./agon";
import { GAMES } from "./playing";

const SHOTS = process.env.SHOTS;

const games = GAMES.map((game) => `[[games]]\ngame = "${game}"\nseats = [{ player = "r", count = 4 }]\n`);

const EVERY_GAME = `name = "every-game"
[players.r]
kind = "rule"
strategy = "random"
${games.join("")}`;

type Row = { session: string; game: string };

async function sessions(page: Page, origin: string, run: string): Promise<Row[]> {
  const answer = await page.request.get(`${origin}/api/v1/runs/${run}/sessions`);
  return answer.ok() ? ((await answer.json()) as { sessions: Row[] }).sessions : [];
}

test.describe("sessions of every game", () => {
  let stand: Stand;
  let address = "";

  test.beforeAll(async () => {
    stand = new Stand();
    await stand.agon("run", stand.write("games.toml", EVERY_GAME), "--quiet", "--data", "data");
    address = await stand.start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0");
  });
  test.afterAll(() => stand.close());

  for (const game of GAMES) {
    test(`${game} is opened and stepped through`, async ({ page }) => {
      const complaints = complaintsOf(page);
      await follow(page, address);
      await expect.poll(async () => (await sessions(page, originOf(address), "every-game")).length).toBe(GAMES.length);
      const row = (await sessions(page, originOf(address), "every-game")).find((one) => one.game === game);
      await page.goto(`${originOf(address)}/sessions/${row?.session}`);
      const slider = page.getByRole("slider", { name: "Step" });
      await expect(slider).toHaveValue("0");
      const last = Number(await slider.getAttribute("max"));
      expect(last).toBeGreaterThan(1);
      await page.keyboard.press("End");
      await expect(slider).toHaveValue(String(last));
      // The step in words, for screen readers as well.
      await expect(slider).toHaveAttribute("aria-valuetext", /\S/);
      await page.keyboard.press("ArrowLeft");
      await expect(slider).toHaveValue(String(last - 1));
      await page.waitForLoadState("networkidle");
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/game-${game}.png`, fullPage: true });
      // A game without a board of its own would be shown by its facts.
      await expect(page.getByText("As a table").first()).toBeVisible();
      expect(await faults(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  }

  test("a seat's view holds nothing that only others saw", async ({ page }) => {
    await follow(page, address);
    const origin = originOf(address);
    await expect.poll(async () => (await sessions(page, origin, "every-game")).length).toBe(GAMES.length);
    const row = (await sessions(page, origin, "every-game")).find((one) => one.game === "sealed_bid_auction");
    type Told = { steps: { kind: string; board: { scene: { bids: { seat: number; value: number | null }[] } } }[] };
    const answer = await page.request.get(`${origin}/api/v1/sessions/${row?.session}/steps?seat=1&count=200`);
    const { steps } = (await answer.json()) as Told;
    const values = steps.flatMap((step) => step.board.scene.bids);
    expect(values.some((bid) => bid.seat === 1 && bid.value !== null)).toBe(true);
    expect(values.filter((bid) => bid.seat !== 1 && bid.value !== null)).toEqual([]);
  });

  test("whoever has no cookie is shown nothing", async ({ page }) => {
    await page.goto(`${originOf(address)}/runs/every-game`);
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    const answer = await page.request.get(`${originOf(address)}/api/v1/runs`);
    expect(answer.status()).toBe(401);
    await page.getByLabel("Access token").fill(new URL(address).hash.replace("#token=", ""));
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("every-game");
  });
});

test("runs that end while pages are open are listed, and so are their new sessions", async ({ page }) => {
  const stand = new Stand();
  try {
    const file = (name: string, repeats: number) =>
      stand.write(
        `${name}.toml`,
        `name = "${name}"\nrepeats = ${repeats}\n[players.r]\nkind = "rule"\nstrategy = "random"
[[games]]\ngame = "divide_dollar"\nseats = [{ player = "r", count = 2 }]\n`,
      );
    const play = (name: string, repeats: number) =>
      stand.agon("run", file(name, repeats), "--quiet", "--data", "data");
    await play("early", 1);
    const address = await stand.start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0");
    await follow(page, address);
    await expect(page.getByRole("link", { name: "early" })).toBeVisible();
    await play("late", 1);
    await expect.poll(async () => (await sessions(page, originOf(address), "late")).length).toBe(1);
    // As when somebody comes back to this window.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await expect(page.getByRole("link", { name: "late" })).toBeVisible();
    const before = await sessions(page, originOf(address), "early");
    await play("early", 3);
    await expect.poll(async () => (await sessions(page, originOf(address), "early")).length).toBe(3);
    // What is read of a file that has changed is what stands in it now.
    const after = await sessions(page, originOf(address), "early");
    expect(after.map((row) => row.session)).toContain(before[0]?.session);
    for (const row of after) {
      const answer = await page.request.get(`${originOf(address)}/api/v1/sessions/${row.session}`);
      expect(answer.status(), row.session).toBe(200);
    }
  } finally {
    await stand.close();
  }
});

test("what models write is shown as text", async ({ page }) => {
  const stand = new Stand();
  try {
    const hostile =
      '<img src=x onerror="document.title=1"><script>document.title=2</script><a href="javascript:alert(1)">x</a>' +
      "\u202Eturned\u202C \u001b[31mred\u0007 \u0000 {\"number\": 40} [[40]] 40";
    const model = await stand.model(() => hostile);
    const experiment = `name = "hostile"
[players.m]
kind = "model"
model = "any"
reply = "text"
[[games]]
game = "guess_two_thirds"
params = { rounds = 2 }
seats = [{ player = "m", count = 2 }]
`;
    await stand.agon("run", stand.write("hostile.toml", experiment), "--quiet", "--data", "data", "--base-url", model);
    const address = await stand.start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0");
    const complaints = complaintsOf(page);
    await follow(page, address);
    const origin = originOf(address);
    await expect.poll(async () => (await sessions(page, origin, "hostile")).length).toBe(1);
    const [row] = await sessions(page, origin, "hostile");
    await page.goto(`${origin}/sessions/${row?.session}?at=1&decision=0.0`);
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText('<img src=x onerror="document.title=1">');
    await expect(dialog).toContainText("U+202E");
    await expect(dialog).not.toContainText("\u202E");
    await expect(dialog.locator("img, script, a[href^='javascript']")).toHaveCount(0);
    expect(await page.title()).not.toMatch(/^[12]$/);
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/hostile.png` });
    expect(complaints).toEqual([]);
  } finally {
    stand.close();
  }
});

test("a sweep is watched to its end, and its sessions are opened while it goes on", async ({ page }) => {
  test.setTimeout(90_000);
  const stand = new Stand();
  try {
    const listening = /listening on (\S+)/;
    const model = await stand.start(listening, "sim-llm", "--listen", "127.0.0.1:0", "--latency", "100ms");
    stand.write(
      "agon.toml",
      `[providers.simulated]\nbase_url = "http://${model}/v1"\nkeys = []\n[models.any]\nprovider = "simulated"\n`,
    );
    const services = await stand.cluster(["--config", "agon.toml"], ["--places", "4"]);
    const address = await stand.start(PAGES, "view", ...services, "--listen", "127.0.0.1:0");
    const complaints = complaintsOf(page);
    await page.goto(address);
    await expect(page.getByText("Nothing is being played.")).toBeVisible();
    const experiment = `name = "watched"
repeats = 100
[players.m]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 3 }
seats = [{ player = "m", count = 2 }]
`;
    stand.write("watched.toml", experiment);
    const ended = stand.start(/(results in)/, "run", "watched.toml", ...services);
    const progress = page.getByRole("progressbar", { name: "Progress" });
    await expect(progress).toHaveAttribute("aria-valuemax", "100");
    await expect(page.getByText("running", { exact: true })).toBeVisible();
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/watched.png` });
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(page.getByText("paused", { exact: true })).toBeVisible();
    await expect(page.getByText("somebody paused it on its page")).toBeVisible();
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/paused.png` });
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(page.getByText("running", { exact: true })).toBeVisible();
    await page.getByRole("link", { name: "watched" }).first().click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("watched");
    // Its results grow as sessions come.
    await page.getByRole("link", { name: "Results" }).click();
    const counted = page.getByRole("main").getByRole("link", { name: /sessions?$/ });
    const sessions = async () => Number.parseInt((await counted.textContent()) ?? "", 10);
    await expect(counted).toBeVisible();
    const before = await sessions();
    expect(before).toBeLessThan(100);
    await expect.poll(sessions).toBeGreaterThan(before);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Runs" }).click();
    await expect(progress).toHaveAttribute("aria-valuenow", "100", { timeout: 60_000 });
    await expect(page.getByText("done", { exact: true })).toBeVisible();
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await ended;
  } finally {
    stand.close();
  }
});
