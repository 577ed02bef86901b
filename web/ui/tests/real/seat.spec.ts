// People play in a browser against the real binary: whole games, a lobby of two, leaving and returning,
// deadlines, and everything around the game.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { faults } from "../axe";
import { complaintsOf } from "../pages";
import { inviting, Stand } from "./agon";

const SHOTS = process.env.SHOTS;

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

async function shoot(page: Page, name: string): Promise<void> {
  if (!SHOTS) return;
  for (const [width, height] of [
    [1280, 900],
    [400, 860],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: `${SHOTS}/seat-${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** No fault at both widths and in both themes, and nothing wider than the page. */
async function expectGood(page: Page): Promise<void> {
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

/** From the link to the game, as fast as it goes. */
async function sitDown(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Take part" }).click();
  const right = page.getByRole("radio", { name: "Nobody: a pseudonym is kept" });
  if (await heading(page, "Instructions").isVisible().catch(() => false)) void 0;
  await expect(heading(page, "Instructions")).toBeVisible();
  if (await right.isVisible()) {
    await right.check();
    await page.getByRole("button", { name: "Check my answers" }).click();
  } else {
    await page.getByRole("button", { name: "Continue" }).click();
  }
}

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });

const turn = (page: Page) => page.getByRole("heading", { name: /^Your turn/ });

/** Answers until the game is over; `act` answers one question. */
async function play(page: Page, act: () => Promise<void>): Promise<number> {
  const over = page.getByRole("heading", { name: "The game is over" });
  for (let count = 0; ; count += 1) {
    await expect(turn(page).or(over)).toBeVisible({ timeout: 30_000 });
    if (await over.isVisible()) return count;
    const asked = await page.evaluate(() => document.querySelector("form.ask")?.textContent ?? "");
    await act();
    // The next question, or the wait for it.
    await expect
      .poll(() => page.evaluate(() => document.querySelector("form.ask")?.textContent ?? ""), { timeout: 30_000 })
      .not.toBe(asked);
  }
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
    await shoot(page, "consent");
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
    await shoot(page, "instructions");
    await page.getByRole("radio", { name: "Everybody" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(turn(page)).toBeVisible();
    // The person reads the rules, and everything that they were told.
    await page.getByText("The rules", { exact: true }).click();
    await expect(page.getByText("You are player_0, one of 4 players")).toBeVisible();
    await expectGood(page);
    await shoot(page, "guess");
    // A number outside the form is sent only after a warning; the game refuses it and says why.
    const number = page.getByRole("spinbutton");
    await number.fill("200");
    await number.press("Enter");
    await expect(page.getByRole("alert").filter({ hasText: "Send it again to do so anyway" })).toBeVisible();
    await number.press("Enter");
    await expect(page.getByText("Your last answer was refused.")).toBeVisible();
    await expect(page.getByText("200 is not a whole number from 0 to 100").first()).toBeVisible();
    await shoot(page, "refused");
    await expectGood(page);
    const answered = await play(page, async () => {
      await number.fill("20");
      await number.press("Enter");
    });
    expect(answered).toBe(3);
    await expect(page.getByText("Your payoff:")).toBeVisible();
    await expectGood(page);
    await shoot(page, "over");
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
    await shoot(page, "questions");
    await page.getByRole("button", { name: "Send" }).press("Enter");
    await expect(heading(page, "Thank you")).toBeVisible();
    await expect(page.getByText("C0FFEE")).toBeVisible();
    await expect(page.getByRole("link", { name: "Return to where you came from" })).toHaveAttribute(
      "href",
      "https://recruiting.example/complete?cc=C0FFEE",
    );
    await expectGood(page);
    await shoot(page, "thanks");
    // The run waited for the person, and ends now.
    const { code, said } = await ended;
    expect(code).toBe(0);
    expect(said).not.toContain("secretpid42");
    expect(complaints).toEqual([]);
    expect((await stand.agon("verify", "guess", "--data", "data")).toString()).toContain("1 of 1 records verified");
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
