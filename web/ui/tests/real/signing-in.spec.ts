// People sign in at a provider, with a browser as they would: whoever is let in sees their team's pages,
// everybody else a sentence, and nobody comes in with what another browser was given.

import { expect, test, type Page } from "@playwright/test";
import { createServer } from "node:net";
import { Stand } from "./agon";
import { FORGED, Forger } from "./forger";
import { CERTIFICATE, startIssuer } from "./issuer";
import { expectGood, shoot } from "./playing";

const SECRET = "a-client-secret-of-32-characters";

const PEOPLE = {
  ann: { email: "ann@example.org", email_verified: true, name: "Ann" },
  bob: { email: "bob@example.org", email_verified: true, groups: ["lab"] },
  eve: { email: "ann@example.org", email_verified: false },
};

/** A port that was free a moment ago: provider and coordinator must know each other's address. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

const identity = (issuer: string, people: string) => `[teams.red]
[teams.blue]

[sign_in]
issuer = "${issuer}"
name = "Example Lab"
client_id = "agon"
client_secret = { file = "client-secret" }
ask_for = ["groups"]
${people}
`;

const ANN = `[[sign_in.people]]
claim = "email"
is = "ann@example.org"
team = "red"
scopes = ["submit"]
`;

const OPS = `[[sign_in.people]]
claim = "groups"
is = "ops"
team = "red"
scopes = ["read"]
`;

const LAB = `[[sign_in.people]]
claim = "groups"
is = "lab"
team = "blue"
scopes = ["read"]
`;

/** Signs in on the provider's own pages. */
async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name: "Sign in with Example Lab" }).click();
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

test("people sign in at a provider and see what they were given, until it is taken from them", async ({ browser }) => {
  const stand = new Stand();
  const port = await freePort();
  const pages = `http://127.0.0.1:${port}`;
  const { issuer, stop } = await startIssuer(stand.folder, { id: "agon", secret: SECRET, pages }, PEOPLE);
  try {
    stand.write("client-secret", SECRET);
    stand.write("identity.toml", identity(issuer, ANN + OPS + LAB));
    const listen = `--listen 127.0.0.1:0 --web-listen 127.0.0.1:${port} --identity identity.toml --ca ${CERTIFICATE}`;
    await stand.start(/pages: (\S+)/, ..."coordinator --data data".split(" "), ...listen.split(" "));
    const open = async () => {
      const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
      await page.goto(pages);
      return page;
    };

    const ann = await open();
    await expect(ann.getByRole("link", { name: "Sign in with Example Lab" })).toBeVisible();
    await shoot(ann, "signing-in");
    await expectGood(ann);
    await signIn(ann, "ann");
    await expect(ann.getByText("ann@example.org, team red")).toBeVisible();
    const cookies = await ann.context().cookies(pages);
    const session = cookies.find((cookie) => /^agon-view-\w+$/.test(cookie.name));
    expect([session?.httpOnly, session?.sameSite]).toEqual([true, "Strict"]);

    const bob = await open();
    await signIn(bob, "bob");
    await expect(bob.getByText("bob@example.org, team blue")).toBeVisible();

    // Whoever may do something else when they sign in again does that, in that browser.
    PEOPLE.bob.groups = ["ops"];
    const bobAgain = await open();
    await signIn(bobAgain, "bob");
    await expect(bobAgain.getByText("bob@example.org, team red")).toBeVisible();
    const holder = async (page: Page) => (await page.request.get(`${pages}/api/v1/holder`)).json();
    expect(await holder(bob)).toEqual({ holder: { name: "bob@example.org", team: "blue" } });

    // An address that nobody has verified is anybody's.
    const eve = await open();
    await signIn(eve, "eve");
    await expect(eve.getByRole("alert").first()).toContainText("nobody has given you access");
    await shoot(eve, "signing-in-refused");
    expect((await eve.request.get(`${pages}/api/v1/runs`)).status()).toBe(401);

    // The way back that one browser was given opens nothing for another, nor twice, nor made up.
    const mallory = await open();
    let way = "";
    // Where a redirect leads is seen at this level alone.
    const browserOfMallory = await mallory.context().newCDPSession(mallory);
    browserOfMallory.on("Fetch.requestPaused", ({ requestId, request }) => {
      way = request.url;
      void browserOfMallory.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    });
    await browserOfMallory.send("Fetch.enable", { patterns: [{ urlPattern: "*/sign-in/back*" }] });
    await signIn(mallory, "ann").catch(() => undefined);
    await expect.poll(() => way).toContain("code=");
    const victim = await open();
    for (const url of [way, way, `${pages}/api/v1/sign-in/back?code=x&state=y`, `${pages}/api/v1/sign-in/back`]) {
      await victim.goto(url);
      await expect(victim.getByRole("alert").first()).toContainText("Signing in did not work");
      expect((await victim.request.get(`${pages}/api/v1/runs`)).status()).toBe(401);
    }

    // What is taken out of the file is over.
    stand.write("identity.toml", identity(issuer, LAB));
    const status = async (page: Page) => (await page.request.get(`${pages}/api/v1/runs`)).status();
    await expect.poll(() => status(ann)).toBe(401);
    expect(await status(bob)).toBe(200);
    const audit = await stand.agon("audit", "--data", "data", "--json");
    expect(audit).toContain("ann@example.org");
    expect(audit).not.toContain(SECRET);
  } finally {
    stop();
    stand.close();
  }
});

test("nobody comes in with a token that a provider may not send", async ({ playwright }) => {
  const stand = new Stand();
  const forger = new Forger({ ...FORGED, good: {} });
  try {
    await forger.start(stand.folder);
    stand.write("client-secret", SECRET);
    stand.write("identity.toml", identity(forger.issuer, ANN));
    const listen = `--listen 127.0.0.1:0 --web-listen 127.0.0.1:0 --identity identity.toml --ca ${CERTIFICATE}`;
    const pages = await stand.start(/pages: (\S+)/, ..."coordinator --data data".split(" "), ...listen.split(" "));
    const told: Record<string, string> = {};
    for (const code of Object.keys(forger.forgeries)) {
      const browser = await playwright.request.newContext({ maxRedirects: 0 });
      const sent = await browser.get(`${pages}/api/v1/sign-in`);
      const query = new URL(sent.headers().location ?? "").searchParams;
      forger.nonce = query.get("nonce") ?? "";
      const back = new URLSearchParams({ code, state: query.get("state") ?? "" });
      const answer = await browser.get(`${pages}/api/v1/sign-in/back?${back}`);
      const looked = await browser.get(`${pages}/api/v1/runs`);
      told[code] = `${answer.headers().location} ${looked.status()}`;
      await browser.dispose();
    }
    const { good, ...forged } = told;
    expect(good).toBe("/ 200");
    const unknown = ["an-address-from-elsewhere", "verified-elsewhere"];
    for (const [code, said] of Object.entries(forged))
      expect(`${code}: ${said}`).toBe(`${code}: /#refused=${unknown.includes(code) ? "unknown" : "failed"} 401`);
    expect(Object.keys(forged)).toHaveLength(19);
  } finally {
    forger.stop();
    stand.close();
  }
});
