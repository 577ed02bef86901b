// A provider of OpenID Connect that sends what no provider may send. What it does with a code is what the
// code says: one for each case.

import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startServer } from "./issuer";

type Claims = Record<string, unknown>;

/** How a token differs from a good one, and what is told to who asks for more. */
export type Forgery = {
  claims?: (good: Claims) => Claims;
  sign?: (forger: Forger, payload: string) => string;
  userinfo?: Claims;
  answer?: string;
};

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const pairOfKeys = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

export class Forger {
  issuer = "";
  /** The nonce of the sign-in that is under way. */
  nonce = "";
  readonly #own = pairOfKeys();
  readonly #other = pairOfKeys();
  #stop = () => {};

  constructor(readonly forgeries: Record<string, Forgery>) {}

  async start(folder: string): Promise<void> {
    const { server, issuer } = await startServer(folder);
    this.issuer = issuer;
    this.#stop = () => server.close();
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  stop(): void {
    this.#stop();
  }

  /** Signed as a good one is, or with a key that nobody knows. */
  rs256(payload: string, own = true): string {
    const signed = `${encoded({ alg: "RS256", kid: "1" })}.${payload}`;
    const key = own ? this.#own.privateKey : this.#other.privateKey;
    return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
  }

  /** With the public key as a secret, which a careless reader would accept. */
  hs256(payload: string): string {
    const signed = `${encoded({ alg: "HS256", kid: "1" })}.${payload}`;
    const pem = this.#own.publicKey.export({ type: "spki", format: "pem" });
    return `${signed}.${createHmac("sha256", pem).update(signed).digest("base64url")}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const at = (path: string) => `${this.issuer}${path}`;
    const path = new URL(request.url ?? "/", this.issuer).pathname;
    response.setHeader("Content-Type", "application/json");
    if (path === "/.well-known/openid-configuration")
      return void response.end(
        JSON.stringify({
          issuer: this.issuer,
          authorization_endpoint: at("/auth"),
          token_endpoint: at("/token"),
          userinfo_endpoint: at("/me"),
          jwks_uri: at("/keys"),
        }),
      );
    if (path === "/keys") return void response.end(JSON.stringify({ keys: [jwk(this.#own.publicKey)] }));
    // The access token is the code, so that the case is known where more is asked for.
    const code = path === "/token" ? (form.get("code") ?? "") : (request.headers.authorization ?? "").slice(7);
    const forgery = this.forgeries[code] ?? {};
    if (path === "/me") return void response.end(JSON.stringify(forgery.userinfo ?? { sub: "ann" }));
    const seconds = Math.floor(Date.now() / 1000);
    const good: Claims = {
      iss: this.issuer,
      aud: "agon",
      sub: "ann",
      email: "ann@example.org",
      email_verified: true,
      nonce: this.nonce,
      iat: seconds,
      exp: seconds + 60,
    };
    const payload = encoded(forgery.claims?.(good) ?? good);
    const token = forgery.sign?.(this, payload) ?? this.rs256(payload);
    const told = { access_token: code, token_type: "Bearer", id_token: token };
    response.end(forgery.answer ?? JSON.stringify(told));
  }
}

const jwk = (key: KeyObject) => ({ ...key.export({ format: "jwk" }), kid: "1", alg: "RS256" });

/** What must let nobody in, by what is wrong with it. */
export const FORGED: Record<string, Forgery> = {
  "no-signature": { sign: (_, payload) => `${encoded({ alg: "none" })}.${payload}.` },
  "a-secret-instead-of-a-key": { sign: (forger, payload) => forger.hs256(payload) },
  "another-key": { sign: (forger, payload) => forger.rs256(payload, false) },
  "two-parts": { sign: (forger, payload) => forger.rs256(payload).split(".").slice(0, 2).join(".") },
  "another-issuer": { claims: (good) => ({ ...good, iss: "https://other.example.org" }) },
  "another-client": { claims: (good) => ({ ...good, aud: "other" }) },
  "several-clients-and-no-party": { claims: (good) => ({ ...good, aud: ["agon", "other"] }) },
  "another-party": { claims: (good) => ({ ...good, azp: "other" }) },
  "another-sign-in": { claims: (good) => ({ ...good, nonce: "1" }) },
  "no-nonce": { claims: ({ nonce, ...good }) => good },
  expired: { claims: (good) => ({ ...good, exp: (good.iat as number) - 1 }) },
  "no-end": { claims: ({ exp, ...good }) => good },
  nobody: { claims: ({ sub, ...good }) => good },
  "userinfo-of-somebody-else": { userinfo: { sub: "bob" } },
  "an-address-from-elsewhere": {
    claims: (good) => ({ ...good, email: "eve@example.org" }),
    userinfo: { sub: "ann", email: "ann@example.org" },
  },
  "verified-elsewhere": {
    claims: ({ email, ...good }) => good,
    userinfo: { sub: "ann", email: "ann@example.org" },
  },
  "not-json": { answer: "<html>" },
  "no-token": { answer: JSON.stringify({ access_token: "x", token_type: "Bearer" }) },
  "two-megabytes": { answer: JSON.stringify({ access_token: "x".repeat(2 << 20), id_token: "x" }) },
};
