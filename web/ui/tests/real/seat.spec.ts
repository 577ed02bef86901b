// People play in a browser against the real binary: whole games, a lobby of two, leaving and returning,
// deadlines, and everything around the game.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { faults } from "../axe";
import { complaintsOf } from "../pages";
import { inviting, PAGES, Stand } from "./agon";
import { askOf, expectGood, GAMES, heading, play, shoot, turn } from "./playing";

/** What is asked around the games of these tests. */
const PEOPLE = `
[consent]
text = """You take part in a study of decisions.

Your answers are kept under a pseudonym. <b>This is not bold.</b>"""

[instructions]
text = "You play a short game. Read the rules that are shown before your first decision."

[[check]]
question = "Who sees your name?"
choices = ["Everybody", "Nobody: a pseudonym is kept"]
answer = "Nobody: a pseudonym is kept"
explanation = "Your name is never kept with your answers."

[[questions]]
name = "strategy"
question = "How did you decide?"
kind = "text"

[[questions]]
name = "difficulty"
question = "How hard was it?"
kind = "scale"
steps = 5
low = "easy"
high = "hard"

[[questions]]
name = "before"
question = "Have you played such a game before?"
kind = "choice"
choices = ["Yes", "No"]

[[questions]]
name = "age"
question = "How old are you?"
kind = "number"
min = 16
max = 120
optional = true

[thanks]
text = "You are done."
completion_code = "C0FFEE"
return_link = "https://recruiting.example/complete?cc=C0FFEE"

[participant]
parameters = ["PROLIFIC_PID"]
`;

type Seat = { name: string; settings?: string };

const person = ({ name, settings = "" }: Seat) => `[players.${name}]
kind = "model"
model = "human/${name}"
agent = "person"
${settings}
`;

const experiment = (name: string, game: string, params: string, people: Seat[], rules: string, others: number) => `
name = "${name}"
${people.map(person).join("")}
[players.r]
kind = "rule"
strategy = "${rules}"
[[games]]
game = "${game}"
params = ${params}
seats = [${people.map((one) => `{ player = "${one.name}" }`).join(", ")}, { player = "r", count = ${others} }]
`;

/** From the link to the game, as fast as it goes. */
async function sitDown(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Take part" }).click();
  await expect(heading(page, "Instructions")).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(heading(page, "Instructions")).toBeHidden();
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("a person takes part from the link to the return link, and records hold a pseudonym only", async ({ page }) => {
  const stand = new Stand();
  try {
    const complaints = complaintsOf(page);
    stand.write("people.toml", PEOPLE);
    const rounds = "{ rounds = 3 }";
    stand.write("guess.toml", experiment("guess", "guess_two_thirds", rounds, [{ name: "ann" }], "level_k", 3));
    const { found, ended } = await stand.run(
      [inviting("ann")],
      ...["run", "guess.toml", "--data", "data", "--web", "127.0.0.1:0", "--people", "people.toml"],
    );
    const [link = ""] = found;
    await page.goto(link.replace("/seat#", "/seat?PROLIFIC_PID=secretpid42&STUDY_ID=unasked77#"));
    await expect(heading(page, "Taking part")).toBeVisible();
    expect(page.url()).not.toContain("invite");
    expect(page.url()).not.toContain("secretpid42");
    await expect(page.getByText("<b>This is not bold.</b>")).toBeVisible();
    await expect(page.getByRole("button", { name: "Take part" })).toBeDisabled();
    await expectGood(page);
    await shoot(page, "seat-consent");
    // Everything by keyboard from here on.
    await page.getByRole("checkbox").focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(heading(page, "Instructions")).toBeVisible();
    await page.getByRole("radio", { name: "Everybody" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Your name is never kept with your answers.")).toBeVisible();
    await expectGood(page);
    await shoot(page, "seat-instructions");
    await page.getByRole("radio", { name: "Everybody" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(turn(page)).toBeVisible();
    // The person reads the rules, and everything that they were told.
    await expect(page.getByRole("heading", { name: "The rules" })).toBeVisible();
    await expect(page.getByText("You are player_0, one of 4 players")).toBeVisible();
    await expectGood(page);
    await shoot(page, "seat-guess");
    // A number outside the form is sent only after a warning; the game refuses it and says why.
    const number = page.getByRole("spinbutton");
    await number.fill("200");
    await number.press("Enter");
    await expect(page.getByRole("alert").filter({ hasText: "Send it again to do so anyway" })).toBeVisible();
    await number.press("Enter");
    await expect(page.getByText("Your last answer was refused.")).toBeVisible();
    await expect(page.getByText("200 is not a whole number from 0 to 100").first()).toBeVisible();
    await shoot(page, "seat-refused");
    await expectGood(page);
    const answered = await play(page, async () => {
      await number.fill("20");
      await number.press("Enter");
    });
    expect(answered).toBe(3);
    await expect(page.getByText("Your payoff:")).toBeVisible();
    await expectGood(page);
    await shoot(page, "seat-over");
    await page.getByRole("button", { name: "Continue" }).press("Enter");
    await expect(heading(page, "A few questions")).toBeVisible();
    await page.getByRole("button", { name: "Send" }).press("Enter");
    await expect(page.getByRole("alert")).toContainText("3 questions are not answered yet");
    await page.getByLabel("How did you decide?").fill("By guessing <script>");
    await page.getByRole("radio", { name: "4", exact: true }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("radio", { name: "No", exact: true }).focus();
    await page.keyboard.press("Space");
    await expectGood(page);
    await shoot(page, "seat-questions");
    await page.getByRole("button", { name: "Send" }).press("Enter");
    await expect(heading(page, "Thank you")).toBeVisible();
    await expect(page.getByText("C0FFEE")).toBeVisible();
    await expect(page.getByRole("link", { name: "Return to where you came from" })).toHaveAttribute(
      "href",
      "https://recruiting.example/complete?cc=C0FFEE",
    );
    await expectGood(page);
    await shoot(page, "seat-thanks");
    // The run waited for the person, and ends now.
    const { code, said } = await ended;
    expect(code).toBe(0);
    expect(said).not.toContain("secretpid42");
    expect(complaints).toEqual([]);
    expect((await stand.agon("verify", "guess", "--data", "data")).toString()).toContain("1 of 1 records verified");
    // Exports, too, know the pseudonym alone.
    await stand.agon("export", "guess", "--data", "data", "--format", "csv", "--out", "exported");
    // Who it was stands in one file, which its owner alone may read.
    const people = join(stand.folder, "data", "people");
    const persons = join(people, "persons.jsonl");
    expect(statSync(persons).mode & 0o777).toBe(0o600);
    const { pseudonym, participant } = JSON.parse(readFileSync(persons, "utf8")) as {
      pseudonym: string;
      participant: object;
    };
    expect(participant).toEqual({ PROLIFIC_PID: "secretpid42" });
    const telling = filesBelow(stand.folder).filter((file) => readFileSync(file).includes("secretpid42"));
    expect(telling).toEqual([persons]);
    const records = readFileSync(join(stand.folder, "data", "runs", "guess", "records.jsonl"), "utf8");
    expect(records).toContain(`"answered_by":"${pseudonym}"`);
    const kept = readFileSync(join(people, "answers.jsonl"), "utf8").trim().split("\n");
    const told = kept.map((line) => JSON.parse(line) as { what: string; pseudonym: string; answers: unknown });
    expect(told.map((one) => one.what)).toEqual(["consent", "check", "check", "questionnaire"]);
    expect(told.every((one) => one.pseudonym === pseudonym)).toBe(true);
    expect(told.at(-1)?.answers).toEqual({ strategy: "By guessing <script>", difficulty: 4, before: "No", age: null });
  } finally {
    stand.close();
  }
});

/** Answers what is asked with the controls that are there. */
async function answerAnyhow(page: Page): Promise<void> {
  const form = page.locator("form.ask");
  const numbers = form.getByRole("spinbutton");
  const radios = form.getByRole("radio");
  if ((await radios.count()) > 0) await radios.first().check();
  else if ((await numbers.count()) > 1) {
    const total = /Divide (\d+)/.exec((await form.textContent()) ?? "")?.[1] ?? "0";
    await numbers.first().fill(total);
  } else {
    const number = numbers.first();
    const [low, high] = [await number.getAttribute("min"), await number.getAttribute("max")];
    const withdraw = form.getByRole("button", { name: "Withdraw" });
    if (await withdraw.isVisible()) {
      await withdraw.click();
      return;
    }
    await number.fill(low ?? high ?? "1");
  }
  await form.getByRole("button", { name: "Send" }).click();
}

async function seated(stand: Stand, toml: string, people: string[], more: string[] = []) {
  return stand.run(
    people.map(inviting),
    ...["run", stand.write("experiment.toml", toml), "--data", "data", "--web", "127.0.0.1:0", ...more],
  );
}

/** To the end of the study without a questionnaire. */
async function finish(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(heading(page, "Thank you")).toBeVisible();
}

test("every game has controls for its asks and a board for its seat", async ({ page }) => {
  test.setTimeout(240_000);
  const stand = new Stand();
  try {
    const complaints = complaintsOf(page);
    // Whoever adds a game adds it here; judges have pages of their own.
    const listed = (await stand.agon("games")).split("\n").map((line) => /^ *([a-z_]+) +\d+-\d+ /.exec(line)?.[1]);
    const known = listed.filter((name) => name !== undefined && name !== "judging");
    expect(known).toEqual(GAMES);
    const short: Record<string, string> = {
      english_auction: `{ items = [{ name = "Lamp", starting_price = 1000, true_value = 2000 }] }`,
      pirate: "{}",
      battle_royale: "{}",
      ascending_auction: "{}",
      sealed_bid_auction: "{ rounds = 1 }",
    };
    const games = GAMES.map(
      (game) =>
        `[[games]]\ngame = "${game}"\nparams = ${short[game] ?? "{ rounds = 1 }"}\nseats = [{ player = "ann" }, { player = "r", count = 3 }]\n`,
    );
    const toml = `name = "every"\n${person({ name: "ann" })}[players.r]\nkind = "rule"\nstrategy = "random"\n${games.join("")}`;
    const { found, ended } = await seated(stand, toml, ["ann"]);
    await sitDown(page, found[0] ?? "");
    const seen = new Set<string>();
    const waits = turn(page).or(page.getByRole("button", { name: "Continue" }));
    for (let count = 0; count < 400; count += 1) {
      await expect(waits.first()).toBeVisible({ timeout: 30_000 });
      if (await page.getByRole("button", { name: "Continue" }).isVisible()) break;
      const name = (await page.getByRole("heading", { level: 1 }).textContent()) ?? "";
      const ask = await page.locator("form.ask").evaluate((form) => form.querySelector("textarea") === null);
      expect(ask, `${name} has no controls of its own`).toBe(true);
      await expect(page.getByText("As a table").first()).toBeVisible();
      if (!seen.has(name)) {
        seen.add(name);
        expect(await faults(page), name).toEqual([]);
        await shoot(page, `seat-game-${name.replaceAll(/\W+/g, "-")}`);
      }
      const before = await askOf(page);
      await answerAnyhow(page);
      await expect.poll(() => askOf(page), { timeout: 30_000 }).not.toBe(before);
    }
    expect(seen.size).toBe(GAMES.length);
    await finish(page);
    expect((await ended).code).toBe(0);
    expect(await stand.agon("verify", "every", "--data", "data")).toContain("14 of 14 records verified");
    expect(complaints).toEqual([]);
  } finally {
    stand.close();
  }
});

test("a person plays a whole English auction against rule players", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  const complaints = complaintsOf(page);
  try {
    const items = `{ items = [
  { name = "Lamp", starting_price = 1000, true_value = 2000 },
  { name = "<img src=x onerror='document.title=1'> \\u202EChair", starting_price = 1000, true_value = 3000 },
] }`.replaceAll("\n", "");
    const toml = experiment("auction", "english_auction", items, [{ name: "ann" }], "truthful", 2);
    const { found, ended } = await seated(stand, toml, ["ann"]);
    await sitDown(page, found[0] ?? "");
    let bids = 0;
    let shot = false;
    await play(page, async () => {
      const number = page.getByRole("spinbutton");
      const low = await number.getAttribute("min");
      if (!shot && bids > 1) {
        shot = true;
        await expectGood(page);
        await shoot(page, "seat-auction");
      }
      if (bids < 4 && low !== null) {
        bids += 1;
        await number.fill(low);
        await number.press("Enter");
      } else await page.getByRole("button", { name: "Withdraw" }).press("Enter");
    });
    expect(bids).toBeGreaterThan(1);
    await expect(page.getByText("Your payoff:")).toBeVisible();
    // What others wrote stays text.
    await expect(page.getByText("<img src=x onerror='document.title=1'> [U+202E]Chair").first()).toBeVisible();
    await expect(page.locator("main img")).toHaveCount(0);
    expect(await page.title()).not.toBe("1");
    expect(complaints).toEqual([]);
    await shoot(page, "seat-auction-over");
    await finish(page);
    expect((await ended).code).toBe(0);
    expect(await stand.agon("verify", "auction", "--data", "data")).toContain("1 of 1 records verified");
  } finally {
    stand.close();
  }
});

test("a person plays a whole water game against rule players", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const toml = experiment("water", "water_allocation", "{ rounds = 8 }", [{ name: "ann" }], "equilibrium", 3);
    const { found, ended } = await seated(stand, toml, ["ann"]);
    await sitDown(page, found[0] ?? "");
    let days = 0;
    await play(page, async () => {
      days += 1;
      if (days === 3) {
        await expectGood(page);
        await shoot(page, "seat-water");
      }
      await page.getByRole("spinbutton").fill("60");
      await page.getByRole("button", { name: "Send" }).press("Enter");
    });
    expect(days).toBeGreaterThan(2);
    await shoot(page, "seat-water-over");
    await finish(page);
    expect((await ended).code).toBe(0);
    expect(await stand.agon("verify", "water", "--data", "data")).toContain("1 of 1 records verified");
  } finally {
    stand.close();
  }
});

test("two people play one game through the waiting room, and each sees its own seat alone", async ({ browser }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const toml = experiment("pair", "guess_two_thirds", "{ rounds = 2 }", [{ name: "ann" }, { name: "bob" }], "level_k", 2);
    const { found, ended } = await seated(stand, toml, ["ann", "bob"]);
    const contexts = [await browser.newContext(), await browser.newContext()];
    const pages = [await contexts[0]!.newPage(), await contexts[1]!.newPage()] as const;
    const [ann, bob] = pages;
    await sitDown(ann, found[0] ?? "");
    await expect(heading(ann, "Waiting room")).toBeVisible();
    await expect(ann.getByText("A seat is still free")).toBeVisible();
    await ann.getByRole("button", { name: "I am ready" }).click();
    await expect(ann.getByText("1 of 2 are ready.")).toBeVisible();
    await sitDown(bob, found[1] ?? "");
    await expect(ann.getByText("here, not ready")).toBeVisible();
    await expectGood(ann);
    await shoot(ann, "lobby");
    // Somebody who closes their page is away, and may come back.
    await bob.goto("about:blank");
    await expect(ann.getByText("away")).toBeVisible();
    await bob.goBack();
    await expect(ann.getByText("here, not ready")).toBeVisible();
    await bob.getByRole("button", { name: "I am ready" }).click();
    for (const page of pages) await expect(turn(page)).toBeVisible();
    for (let round = 0; round < 2; round += 1) {
      const numbers = ["31", "47"];
      for (const [index, page] of pages.entries()) {
        await expect(turn(page)).toBeVisible();
        await page.getByRole("spinbutton").fill(numbers[index] ?? "");
        await page.getByRole("button", { name: "Send" }).click();
        if (index === 0 && round === 0) {
          await expect(page.getByRole("heading", { name: "Please wait" })).toBeVisible();
          await shoot(page, "seat-waiting");
        }
      }
    }
    for (const page of pages) await expect(page.getByRole("heading", { name: "The game is over" })).toBeVisible();
    // What the server told each of them, in full.
    for (const [index, page] of pages.entries()) {
      const id = new URL(page.url()).pathname.split("/")[2];
      const answer = await page.request.get(`${new URL(page.url()).origin}/api/v1/seats/${id}`);
      const told = await answer.text();
      expect(told).toContain(index === 0 ? '"31"' : '"47"');
      expect(told).not.toContain(index === 0 ? '"47"' : '"31"');
      // An invitation opens nothing else.
      for (const path of ["runs", "sweeps", "runs/pair/sessions"]) {
        expect((await page.request.get(`${new URL(page.url()).origin}/api/v1/${path}`)).status()).toBe(401);
      }
      await finish(page);
    }
    expect((await ended).code).toBe(0);
    expect(await stand.agon("verify", "pair", "--data", "data")).toContain("1 of 1 records verified");
    for (const context of contexts) await context.close();
  } finally {
    stand.close();
  }
});

test("a seat is left and taken again, by its person or by another, and never by two", async ({ browser }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const toml = experiment("leaving", "beauty_contest", "{ rounds = 3 }", [{ name: "ann" }], "random", 3);
    const { found, ended } = await seated(stand, toml, ["ann"]);
    const link = found[0] ?? "";
    const [one, other] = [await browser.newContext(), await browser.newContext()];
    const [ann, bob] = [await one.newPage(), await other.newPage()];
    await sitDown(ann, link);
    await expect(turn(ann)).toBeVisible();
    // Somebody else with the same link is told that the seat is taken.
    await bob.goto(link);
    await expect(bob.getByText("This seat is taken")).toBeVisible();
    expect(await faults(bob)).toEqual([]);
    await shoot(bob, "taken");
    await ann.getByRole("spinbutton").fill("4");
    await ann.getByRole("button", { name: "Send" }).click();
    // The page is closed and opened again: by its own address, and by the link.
    const isAgain = ann.getByText("The game is now played again.");
    await expect(isAgain).toBeVisible();
    const own = ann.url();
    await ann.goto("about:blank");
    await ann.goto(own);
    await expect(isAgain).toBeVisible();
    await ann.goto("about:blank");
    await ann.goto(link);
    await expect(turn(ann)).toBeVisible();
    // Who leaves may come back while nobody else takes the seat.
    await ann.getByText("Leave", { exact: true }).click();
    await ann.getByRole("button", { name: "Leave this study" }).click();
    await expect(heading(ann, "You left")).toBeVisible();
    await shoot(ann, "left");
    expect(await faults(ann)).toEqual([]);
    await ann.getByRole("button", { name: "Come back" }).click();
    await expect(turn(ann)).toBeVisible();
    await ann.getByText("Leave", { exact: true }).click();
    await ann.getByRole("button", { name: "Leave this study" }).click();
    await expect(heading(ann, "You left")).toBeVisible();
    await sitDown(bob, link);
    await expect(turn(bob)).toBeVisible();
    await ann.reload();
    await expect(heading(ann, "There is no seat for you here")).toBeVisible();
    const answered = await play(bob, async () => {
      await bob.getByRole("spinbutton").fill("12.5");
      await bob.getByRole("button", { name: "Send" }).press("Enter");
    });
    expect(answered).toBe(2);
    await finish(bob);
    expect((await ended).code).toBe(0);
    const records = readFileSync(join(stand.folder, "data", "runs", "leaving", "records.jsonl"), "utf8");
    const people = new Set([...records.matchAll(/"answered_by":"(person-\w+)"/g)].map((match) => match[1]));
    expect(people.size).toBe(2);
    expect(await stand.agon("verify", "leaving", "--data", "data")).toContain("1 of 1 records verified");
    await one.close();
    await other.close();
  } finally {
    stand.close();
  }
});

test("when time is up the stand-in answers, and the page says so and goes on", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const settings = `deadline = "4s"\nstand_in = "equilibrium"`;
    const toml = experiment("late", "guess_two_thirds", "{ rounds = 6 }", [{ name: "ann", settings }], "random", 2);
    const { found, ended } = await seated(stand, toml, ["ann"]);
    await sitDown(page, found[0] ?? "");
    await expect(turn(page)).toBeVisible();
    await expect(page.getByRole("timer")).toBeVisible();
    await expect(page.getByText("equilibrium answers for you").first()).toBeVisible();
    await shoot(page, "seat-clock");
    const late = page.getByText("Time was up: equilibrium has answered for you.", { exact: true });
    await expect(late).toBeVisible({ timeout: 20_000 });
    expect(await faults(page)).toEqual([]);
    await shoot(page, "seat-late");
    const answered = await play(page, async () => {
      await page.getByRole("spinbutton").fill("7");
      await page.getByRole("spinbutton").press("Enter");
    });
    expect(answered).toBeGreaterThan(0);
    await finish(page);
    expect((await ended).code).toBe(0);
    const records = readFileSync(join(stand.folder, "data", "runs", "late", "records.jsonl"), "utf8");
    expect(records).toContain('"finish_reason":"deadline"');
    expect(records).toContain('"answered_by":"equilibrium for ann"');
    expect(records).toMatch(/"answered_by":"person-\w+"/);
    expect(await stand.agon("verify", "late", "--data", "data")).toContain("1 of 1 records verified");
  } finally {
    stand.close();
  }
});

test("a person plays a whole beauty contest, and comes back to it after the run was started again", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const toml = experiment("contest", "beauty_contest", "{ rounds = 4 }", [{ name: "ann" }], "random", 5);
    const first = await seated(stand, toml, ["ann"]);
    const link = first.found[0] ?? "";
    await sitDown(page, link);
    await expect(turn(page)).toBeVisible();
    await page.getByRole("spinbutton").fill("9.5");
    await page.getByRole("spinbutton").press("Enter");
    await expect(page.getByText("The game is now played again.")).toBeVisible();
    first.stop();
    await first.ended;
    await expect(page.getByText("The connection is interrupted")).toBeVisible();
    await shoot(page, "seat-interrupted");
    const address = new URL(link).host;
    const again = await stand.run(
      [/(ann was invited before)/],
      ...["run", "experiment.toml", "--data", "data", "--web", address],
    );
    await expect(page.getByText("The connection is interrupted")).toBeHidden({ timeout: 30_000 });
    await expect(turn(page)).toBeVisible({ timeout: 30_000 });
    await play(page, async () => {
      await page.getByRole("spinbutton").fill("6");
      await page.getByRole("spinbutton").press("Enter");
    });
    await shoot(page, "seat-contest-over");
    await finish(page);
    expect((await again.ended).code).toBe(0);
    expect(await stand.agon("verify", "contest", "--data", "data")).toContain("1 of 1 records verified");
  } finally {
    stand.close();
  }
});

test("in a cluster an invitation opens a seat until it is withdrawn", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const services = await stand.cluster();
    const invited = await stand.agon("invite", "far", "ann", "--data", "people");
    const [, id = "", fragment = ""] = /^ann \((\w+)\): \S+(#invite=\S+)/m.exec(invited) ?? [];
    const serving = /(http:\/\/127\.0\.0\.1:\d+)\/#token/;
    const origin = await stand.start(serving, "view", ...services, "--data", "people", "--listen", "127.0.0.1:0");
    await sitDown(page, `${origin}/seat${fragment}`);
    await expect(page.getByText("The game begins in a moment.")).toBeVisible();
    const toml = experiment("far", "guess_two_thirds", "{ rounds = 3 }", [{ name: "ann" }], "random", 2);
    await stand.run([/(.+)/], "run", stand.write("far.toml", toml), ...services, "--data", "runs");
    await expect(turn(page)).toBeVisible({ timeout: 30_000 });
    const asked = await askOf(page);
    await page.getByRole("spinbutton").fill("20");
    await page.getByRole("spinbutton").press("Enter");
    await expect.poll(() => askOf(page)).not.toBe(asked);
    await expect(page.getByText("Round 2 of 3 begins")).toBeVisible();
    expect(await stand.agon("invite", "far", "--list", "--data", "people")).toMatch(/ann +playing +person-\w{4}/);
    await stand.agon("invite", "far", "--revoke", id, "--data", "people");
    await expect(heading(page, "There is no seat for you here")).toBeVisible();
    expect(await stand.agon("invite", "far", "--list", "--data", "people")).toMatch(/ann +withdrawn/);
    // Another link for the same seat goes on where the game is.
    const again = await stand.agon("invite", "far", "ann", "--data", "people");
    await sitDown(page, `${origin}/seat${/#invite=\S+/.exec(again)?.[0] ?? ""}`);
    await expect(page.getByText("Round 2 of 3 begins")).toBeVisible();
    await play(page, async () => {
      await page.getByRole("spinbutton").fill("30");
      await page.getByRole("spinbutton").press("Enter");
    });
    await finish(page);
  } finally {
    stand.close();
  }
});

/** The row of an experiment in the list of a cluster. */
const listed = async (stand: Stand, services: string[], name: string) => {
  const list = await stand.agon("experiments", "list", ...services.slice(0, 2));
  return list.split("\n").find((line) => line.trimStart().startsWith(`${name} `)) ?? "";
};

/** What waits at a door of a gateway, by HTTP. */
async function asksAt(page: Page, gateway: string, door: string): Promise<unknown[]> {
  const answer = await page.request.get(`${gateway}/v1/doors/${door}/asks`);
  expect(answer.status()).toBe(200);
  return ((await answer.json()) as { asks: unknown[] }).asks;
}

test("two people wait in the lobby of a cluster, the game begins when both are ready, and comes to its end", async ({ browser }) => {
  test.setTimeout(180_000);
  const stand = new Stand();
  try {
    const { services, doors } = await stand.clusterWithDoors();
    const toml = experiment("both", "guess_two_thirds", "{ rounds = 2 }", [{ name: "ann" }, { name: "bob" }], "level_k", 2);
    const { found, ended } = await stand.run(
      [inviting("ann"), inviting("bob"), PAGES],
      ...["run", stand.write("both.toml", toml), ...services, "--data", "people", "--web", "127.0.0.1:0"],
    );
    const contexts = [await browser.newContext(), await browser.newContext(), await browser.newContext()];
    const pages = [await contexts[0]!.newPage(), await contexts[1]!.newPage()] as const;
    const [ann, bob] = pages;
    const lab = await contexts[2]!.newPage();
    await lab.goto(found[2] ?? "");
    await expect(lab.getByText("waiting for people")).toBeVisible();
    await expectGood(lab);
    await shoot(lab, "lobby-sweep");
    await sitDown(ann, found[0] ?? "");
    await expect(heading(ann, "Waiting room")).toBeVisible();
    await ann.getByRole("button", { name: "I am ready" }).click();
    await expect(ann.getByText("1 of 2 are ready.")).toBeVisible();
    await sitDown(bob, found[1] ?? "");
    await expect(ann.getByText("here, not ready")).toBeVisible();
    // Both are there and one is not ready: nothing was leased, and nobody is asked.
    expect(await listed(stand, services, "both")).toMatch(/ 0 +1 +paused: waiting for people/);
    const shown = await stand.agon("experiments", "show", "both", ...services.slice(0, 2));
    expect(shown).toContain("0 of 1 sessions done, 0 running, 1 queued, 1 worker");
    for (const door of ["ann", "bob"]) expect(await asksAt(ann, doors, door)).toEqual([]);
    for (const page of pages) await expect(heading(page, "Waiting room")).toBeVisible();
    await bob.getByRole("button", { name: "I am ready" }).click();
    for (const page of pages) await expect(turn(page)).toBeVisible();
    expect(await listed(stand, services, "both")).toContain("running");
    await Promise.all(
      pages.map((page, index) =>
        play(page, async () => {
          await page.getByRole("spinbutton").fill(String(20 + index));
          await page.getByRole("spinbutton").press("Enter");
        }),
      ),
    );
    // It waits for both on their thanks pages.
    for (const page of pages) await finish(page);
    const { code, said } = await ended;
    expect(code, said).toBe(0);
    expect(await listed(stand, services, "both")).toContain("done");
    expect(await stand.agon("verify", "both", "--data", "people")).toContain("1 of 1 records verified");
    for (const context of contexts) await context.close();
  } finally {
    stand.close();
  }
});

test("in a cluster the same command returns to the same people, before the game and in the middle of it", async ({ browser }) => {
  test.setTimeout(240_000);
  const stand = new Stand();
  try {
    const { services, doors } = await stand.clusterWithDoors();
    // The two play two games of a series: the second must not begin while nobody can play.
    const series = `\n[series]\nlength = 2\n`;
    const toml = `${experiment("again", "guess_two_thirds", "{ rounds = 1 }", [{ name: "ann" }, { name: "bob" }], "level_k", 2)}${series}`;
    const run = (patterns: RegExp[], listen: string) =>
      stand.run(patterns, "run", stand.write("again.toml", toml), ...services, "--data", "people", "--web", listen);
    const first = await run([inviting("ann"), inviting("bob")], "127.0.0.1:0");
    const address = new URL(first.found[0] ?? "").host;
    const contexts = [await browser.newContext(), await browser.newContext()];
    const pages = [await contexts[0]!.newPage(), await contexts[1]!.newPage()] as const;
    const [ann, bob] = pages;
    await sitDown(ann, first.found[0] ?? "");
    await ann.getByRole("button", { name: "I am ready" }).click();
    await expect(ann.getByText("1 of 2 are ready.")).toBeVisible();
    // Stopped in the lobby: it stays paused, and says how to go on.
    first.stop();
    const stopped = await first.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.said).toContain("the game has not begun, and experiment again waits for people. The same command lets people in");
    expect(stopped.said).toContain("`agon experiments resume again`");
    expect(await listed(stand, services, "again")).toContain("paused: waiting for people");
    const back = [/(ann was invited before)/, /(bob was invited before)/];
    const second = await run(back, address);
    // Ann is where she was, and still ready.
    await expect(ann.getByText("The connection is interrupted")).toBeHidden({ timeout: 30_000 });
    await expect(ann.getByText("1 of 2 are ready.")).toBeVisible();
    await sitDown(bob, first.found[1] ?? "");
    await bob.getByRole("button", { name: "I am ready" }).click();
    for (const page of pages) await expect(turn(page)).toBeVisible();
    // Stopped in the middle: what is played goes on, and the next game waits.
    second.stop();
    const left = await second.ended;
    expect(left.code).toBe(130);
    expect(left.said).toContain("0 of 2 sessions are done, and one is being played to its end; the rest waits for people");
    for (const page of pages) await expect(page.getByText("The connection is interrupted")).toBeVisible();
    for (const door of ["ann", "bob"]) {
      const [ask] = await asksAt(ann, doors, door);
      const { address: at, request_digest: digest } = ask as { address: object; request_digest: string };
      const answer = { address: at, request_digest: digest, reply: `{"guess": 5}`, answered_by: "by hand" };
      expect((await ann.request.post(`${doors}/v1/doors/${door}/answers`, { data: answer })).status()).toBe(200);
    }
    await expect.poll(() => listed(stand, services, "again"), { timeout: 30_000 }).toMatch(/ 1 +2 +paused: waiting for people/);
    for (const door of ["ann", "bob"]) expect(await asksAt(ann, doors, door)).toEqual([]);
    const third = await run(back, address);
    for (const page of pages) await expect(turn(page)).toBeVisible({ timeout: 60_000 });
    await Promise.all(
      pages.map((page) =>
        play(page, async () => {
          await page.getByRole("spinbutton").fill("6");
          await page.getByRole("spinbutton").press("Enter");
        }),
      ),
    );
    for (const page of pages) await finish(page);
    const { code, said } = await third.ended;
    expect(code, said).toBe(0);
    expect(await stand.agon("verify", "again", "--data", "people")).toContain("2 of 2 records verified");
    for (const context of contexts) await context.close();
  } finally {
    stand.close();
  }
});
