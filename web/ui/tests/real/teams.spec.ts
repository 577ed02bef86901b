// Pages that a coordinator serves to teams: each sees its own experiments and nothing of another's, until it
// signs out or its token is revoked.

import { expect, test, type Page } from "@playwright/test";
import { Stand } from "./agon";
import { expectGood, shoot } from "./playing";

const EXPERIMENT = `name = "guesses"
repeats = 40

[players.fair]
kind = "rule"
strategy = "equilibrium"

[[games]]
game = "guess_two_thirds"
params.rounds = 3
seats = [{ player = "fair", count = 4 }]
`;

let stand: Stand;
test.beforeAll(() => {
  stand = new Stand();
});
test.afterAll(() => stand.close());

const makeToken = async (...words: string[]) => (await stand.agon("token", "create", "--data", "data", ...words)).trim();

async function signIn(page: Page, address: string, token: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByText("Use a token of your team")).toBeVisible();
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Runs");
}

test("each team sees its own experiments as they are played, and nothing of another's", async ({ browser }) => {
  for (const team of ["red", "blue"]) await stand.agon("team", "create", team, "--data", "data");
  const red = await makeToken("--team", "red", "--scope", "submit", "--name", "nightly");
  const blue = await makeToken("--team", "blue", "--scope", "read", "--name", "eyes");
  const worker = await makeToken("--scope", "worker");
  const coordinator = await stand.run(
    [/pages: (\S+)/, /coordinator listening on (\S+)/],
    ..."coordinator --data data --listen 127.0.0.1:0 --web-listen 127.0.0.1:0".split(" "),
  );
  const [pages = "", door = ""] = coordinator.found;
  stand.write("worker-token", worker);
  stand.write("red-token", red);
  stand.write("guesses.toml", EXPERIMENT);
  await stand.start(/(\S+)/, "worker", "--coordinator", `http://${door}`, "--token-file", "worker-token");

  const ofRed = await (await browser.newContext()).newPage();
  const ofBlue = await (await browser.newContext()).newPage();
  await ofRed.goto(pages);
  await shoot(ofRed, "teams-sign-in");
  await expectGood(ofRed);
  await ofRed.getByLabel("Access token").fill(worker);
  await ofRed.getByRole("button", { name: "Sign in" }).click();
  await expect(ofRed.getByRole("alert")).toContainText("need the scope read or admin");
  await signIn(ofRed, pages, red);
  await signIn(ofBlue, pages, blue);
  await expect(ofRed.getByText("nightly, team red")).toBeVisible();

  const submit = ["--coordinator", `http://${door}`, "--token-file", "red-token"];
  await stand.agon("run", "guesses.toml", ...submit);
  await expect(ofRed.getByText("40 of 40").first()).toBeVisible({ timeout: 20_000 });
  await shoot(ofRed, "teams-runs");
  await expectGood(ofRed);
  const run = ofRed.getByRole("link", { name: "guesses" }).first();
  await run.click();
  await expect(ofRed.getByRole("heading", { level: 1 })).toContainText("guesses");
  const opened = ofRed.url();

  // The same address says to another team what an address says that nobody has.
  await ofBlue.goto(opened);
  await expect(ofBlue.getByRole("alert")).toContainText("There is no run", { ignoreCase: true });
  const known = await ofBlue.request.get(`${new URL(pages).origin}/api/v1/${new URL(opened).pathname.slice(1)}`);
  const unknown = await ofBlue.request.get(`${new URL(pages).origin}/api/v1/runs/nowhere`);
  expect([known.status(), unknown.status()]).toEqual([404, 404]);
  const listed = await ofBlue.request.get(`${new URL(pages).origin}/api/v1/sweeps`);
  expect(await listed.json()).toEqual({ sweeps: [] });
  const act = (page: Page, action: string) =>
    page.request.post(`${new URL(pages).origin}/api/v1/sweeps/guesses/${action}`);
  expect((await act(ofBlue, "cancel")).status()).toBe(409);

  // What was deleted is gone, and what is handed in again under its name stands in its place.
  await stand.agon("experiments", "delete", "guesses", ...submit);
  stand.write("guesses.toml", EXPERIMENT.replace("repeats = 40", "repeats = 5\nseed = 9"));
  await stand.agon("run", "guesses.toml", "--out", "again", ...submit);
  const sessions = async () => {
    const answer = await ofRed.request.get(`${new URL(pages).origin}/api/v1/runs/guesses/sessions`);
    return answer.ok() ? ((await answer.json()) as { total: number }).total : 0;
  };
  await expect.poll(sessions).toBe(5);

  await ofRed.goto(pages);
  await ofRed.getByRole("button", { name: "Sign out" }).click();
  await expect(ofRed.getByLabel("Access token")).toBeVisible();
  expect((await ofRed.request.get(`${new URL(pages).origin}/api/v1/runs`)).status()).toBe(401);

  await stand.agon("token", "revoke", blue.split("_")[1] ?? "", "--data", "data");
  const status = async () => (await ofBlue.request.get(`${new URL(pages).origin}/api/v1/runs`)).status();
  await expect.poll(status).toBe(401);
});
