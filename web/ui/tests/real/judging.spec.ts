// A person judges records of finished games in a browser: the record, each criterion with what its marks
// mean, and what comes of it beside other judges.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { complaintsOf, follow } from "../pages";
import { inviting, PAGES, Stand } from "./agon";
import { expectGood, heading, play, shoot, turn } from "./playing";

const PLAYED = `
name = "played"
repeats = 3
[players.r]
kind = "rule"
strategy = "random"
[[games]]
game = "guess_two_thirds"
params = { rounds = 2 }
seats = [{ player = "r", count = 2 }]
`;

const JUDGING = `
name = "judged"
[players.ann]
kind = "model"
model = "human/ann"
agent = "person"
[players.other]
kind = "rule"
strategy = "random"
[[games]]
game = "judging"
seats = ["ann", "other"]
`;

test("a person judges three records beside another judge, and their agreement is told", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  try {
    const complaints = complaintsOf(page);
    await stand.agon("run", stand.write("played.toml", PLAYED), "--data", "data", "--quiet");
    const { found, ended } = await stand.run(
      [inviting("ann")],
      ...["run", stand.write("judge.toml", JUDGING), "--records", "data/runs/played", "--judged", "3"],
      ...["--data", "data", "--web", "127.0.0.1:0"],
    );
    await page.goto(found[0] ?? "");
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Take part" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(turn(page)).toBeVisible({ timeout: 30_000 });
    // The record stands beside the question, and every mark says what it means.
    await expect(page.getByText("This is the game as")).toBeVisible();
    await expect(page.getByText("5: It always uses everything it is told, and in time.")).toBeVisible();
    await shoot(page, "judging");
    await expectGood(page);
    let mark = 0;
    const marks = await play(page, async () => {
      mark = 1 + (mark % 5);
      await page.getByRole("spinbutton").fill(String(mark));
      await page.getByRole("spinbutton").press("Enter");
    });
    // Three records of rule players, who have no persona: five criteria each.
    expect(marks).toBe(15);
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(heading(page, "Thank you")).toBeVisible();
    expect((await ended).code).toBe(0);
    expect(complaints).toEqual([]);
    expect(await stand.agon("verify", "judged", "--data", "data")).toContain("3 of 3 records verified");
    // All records together: six marks of three records, their spread, and how far the judges agree.
    const told = await stand.agon("show", "judged", "--measures", "--data", "data");
    expect(told).toMatch(/logical reasoning +6 +\d\.\d\d ± .* 3 +\d\.\d\d +-?\d\.\d\d +-/);
  } finally {
    stand.close();
  }
});

test("players are drawn on a page, judges take turns, and the experiment that it gives is run", async ({ page }) => {
  const stand = new Stand();
  try {
    await stand.agon("run", stand.write("played.toml", PLAYED), "--data", "data", "--quiet");
    const complaints = complaintsOf(page);
    await follow(page, await stand.start(PAGES, "view", "--data", "data", "--listen", "127.0.0.1:0"));
    await page.getByRole("link", { name: "played" }).first().click();
    await page.getByRole("link", { name: "Judge players" }).click();
    await expect(heading(page, "Judge players")).toBeVisible();
    await page.getByLabel("Players to judge, at most").fill("4");
    await page.getByLabel("People, by the names").fill("ann, ann");
    await page.getByRole("button", { name: "Draw" }).click();
    await expect(page.getByRole("alert")).toHaveText("ann is named twice");
    await page.getByLabel("People, by the names").fill("ann");
    await page.getByRole("textbox", { name: "Models" }).fill("sim, sim");
    await page.getByLabel("Judges per record").fill("4");
    await page.getByRole("button", { name: "Draw" }).click();
    await expect(page.getByRole("alert")).toContainText("3 judges named, so each record can have 1 to 3, not 4");
    await page.getByLabel("Judges per record").fill("2");
    await page.getByLabel("Adaptability").uncheck();
    await page.getByRole("button", { name: "Draw" }).click();
    await expect(page.getByRole("heading", { name: "4 players to judge" })).toBeVisible();
    // Eight places of two judges for each of four records, shared by three.
    await expect(page.getByText(/^ann: \d records; judge_1: \d records; judge_2: \d records$/)).toHaveText(/(2.*3.*3|3.*2.*3|3.*3.*2)/);
    await expect(page.getByRole("table").getByRole("row")).toHaveCount(5);
    await expect(page.getByText(/^agon run judging-played-[0-9a-f]{6}\.toml --web$/)).toBeVisible();
    await shoot(page, "judging-draw");
    await expectGood(page);
    // The same by models alone is run as it is saved.
    await page.getByLabel("People, by the names").fill("");
    await expect(page.getByRole("button", { name: "Save the experiment" })).toBeHidden();
    await page.getByRole("button", { name: "Draw" }).click();
    await expect(page.getByText(/^agon run judging-played-[0-9a-f]{6}\.toml$/)).toBeVisible();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the experiment" }).click();
    const saved = await saving;
    const file = saved.suggestedFilename();
    await saved.saveAs(join(stand.folder, file));
    expect(readFileSync(join(stand.folder, file), "utf8")).toContain("This is the game as");
    await stand.agon("run", file, "--data", "data", "--quiet");
    const told = await stand.agon("show", file.replace(".toml", ""), "--measures", "--data", "data");
    expect(told).toContain("logical reasoning");
    expect(told).not.toContain("adaptability");
    // A draw leads to what its player saw.
    await page.getByRole("table").getByRole("link").first().click();
    await expect(page.getByRole("slider", { name: "Step" })).toBeVisible();
    expect(complaints).toEqual([]);
  } finally {
    stand.close();
  }
});

const PERSON = `
name = "guesses"
[players.ann]
kind = "model"
model = "human/ann"
agent = "person"
[players.r]
kind = "rule"
strategy = "random"
[[games]]
game = "guess_two_thirds"
params = { rounds = 2 }
seats = ["ann", { player = "r", count = 2 }]
`;

test("a person plays, and is invited again to rate her own game", async ({ page }) => {
  test.setTimeout(120_000);
  const stand = new Stand();
  const takePart = async (link: string) => {
    await page.goto(link);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Take part" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
  };
  const answer = async (value: string) => {
    const count = await play(page, async () => {
      await page.getByRole("spinbutton").fill(value);
      await page.getByRole("spinbutton").press("Enter");
    });
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(heading(page, "Thank you")).toBeVisible();
    return count;
  };
  try {
    const web = ["--data", "data", "--web", "127.0.0.1:0"];
    const played = await stand.run([inviting("ann")], "run", stand.write("guesses.toml", PERSON), ...web);
    await takePart(played.found[0] ?? "");
    expect(await answer("30")).toBe(2);
    expect((await played.ended).code).toBe(0);
    const own = ["alympics/judging", "--records", "data/runs/guesses", "--own"];
    const rated = await stand.run([inviting("ann")], "run", ...own, ...web);
    await takePart(rated.found[0] ?? "");
    await expect(page.getByText("You played as player_0 in this game. This is the game as")).toBeVisible();
    expect(await answer("4")).toBe(5);
    expect((await rated.ended).code).toBe(0);
    const told = await stand.agon("show", "alympics-judging-own", "--measures", "--data", "data", "--json");
    expect(told).toContain('"persons"');
  } finally {
    stand.close();
  }
});
