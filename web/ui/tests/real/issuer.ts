// An OpenID Connect provider on this machine: `oidc-provider`, which is certified, with people of its own.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { join } from "node:path";
import Provider from "oidc-provider";

/** What the provider claims of people, by the name under which they sign in. */
export type People = Record<string, Record<string, unknown>>;

/** The file with the certificate by which a provider in this folder is trusted. */
export const CERTIFICATE = "provider.pem";

/** A server with a certificate of its own, in a folder; where it is. */
export async function startServer(folder: string): Promise<{ server: Server; issuer: string }> {
  const [key, cert] = [join(folder, "provider.key"), join(folder, CERTIFICATE)];
  const made = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE`;
  execFileSync("openssl", [...made.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
  const server: Server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { server, issuer: `https://127.0.0.1:${address.port}` };
}

/** Starts one for a client whose pages are at an address; where it is, and how to stop it. */
export async function startIssuer(
  folder: string,
  client: { id: string; secret: string; pages: string },
  people: People,
): Promise<{ issuer: string; stop: () => void }> {
  const { server, issuer } = await startServer(folder);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${client.pages}/api/v1/sign-in/back`],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    pkce: { required: () => true },
    cookies: { keys: ["for tests"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  });
  // Its log warns of what is not for production.
  server.on("request", provider.callback());
  return { issuer, stop: () => server.close() };
}
