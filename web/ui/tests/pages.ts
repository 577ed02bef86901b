// What the tests of the pages share: the mock as a fixture, signing in, and listening for complaints.

import type { Server } from "node:http";
import { join } from "node:path";
import { test as base, expect, type Page } from "@playwright/test";
import { startMock, TOKEN } from "./mock";

export const test = base.extend<object, { address: string }>({
  address: [
    async ({}, use) => {
      const mock = await startMock(join(import.meta.dirname, "../dist"));
      await use(mock.address);
      await close(mock.server);
    },
    { scope: "worker" },
  ],
});

/** What the browser complains about, except the refusals that a test asks for. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isRefusal = /status of 4(01|04|22)/.test(message.text());
    if ((message.type() === "error" || message.type() === "warning") && !isRefusal) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}

/** Signs in to the mock. */
export const enter = (page: Page, address: string) => follow(page, `${address}/#token=${encodeURIComponent(TOKEN)}`);

/** Opens an address that holds a token. The browser has its cookie once the page is there, not before. */
export async function follow(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Runs");
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
