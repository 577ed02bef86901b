// A person judges records of finished games in a browser: the record, each criterion with what its marks
// mean, and what comes of it beside other judges.

import { expect, test } from "@playwright/test";
import { complaintsOf } from "../pages";
import { inviting, Stand } from "./agon";
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
