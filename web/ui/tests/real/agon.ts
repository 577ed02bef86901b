// The real binary for tests of pages: runs, servers of models, and the address that a command prints.
// The binary is named by AGON, by default the debug build.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const AGON = process.env.AGON ?? join(import.meta.dirname, "../../../../target/debug/agon");

const LISTENING = /listening on (\S+)/;

const STORE = ["--data", "data", "--listen", "127.0.0.1:0"];

export type Ended = { code: number | null; said: string };

/** A command that was started. */
export type Running = {
  /** What was looked for in its output. */
  found: string[];
  ended: Promise<Ended>;
  stop: () => void;
};

/** A folder of its own, and the processes that were started in it. Made in `beforeAll`, which may run again. */
export class Stand {
  readonly folder = mkdtempSync(join(tmpdir(), "agon-pages-"));
  readonly #started: ChildProcess[] = [];
  readonly #servers: Server[] = [];

  /** Runs a command to its end; its standard output. */
  async agon(...words: string[]): Promise<string> {
    // Servers of models live in this process, so it must not wait idly.
    return (await promisify(execFile)(AGON, words, { cwd: this.folder })).stdout;
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text);
    return name;
  }

  /** Starts a command, and waits for a line that fits; what stands in its first group. */
  async start(pattern: RegExp, ...words: string[]): Promise<string> {
    const { found } = await this.run([pattern], ...words);
    return found[0] ?? "";
  }

  /** Starts a command, and waits for a line for each pattern; what stands in their first groups. */
  run(patterns: RegExp[], ...words: string[]): Promise<Running> {
    const child = spawn(AGON, words, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#started.push(child);
    const said: string[] = [];
    const found = new Array<string | undefined>(patterns.length);
    const ended = new Promise<Ended>((resolve) => {
      child.on("close", (code) => resolve({ code, said: said.join("\n") }));
    });
    return new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          said.push(line);
          patterns.forEach((pattern, index) => (found[index] ??= pattern.exec(line)?.[1]));
          const all = found.filter((one) => one !== undefined);
          if (all.length === patterns.length) resolve({ found: all, ended, stop: () => child.kill("SIGTERM") });
        });
      }
      child.on("exit", (code) => {
        reject(new Error(`agon ${words.join(" ")} ended with ${code}:\n${said.join("\n")}`));
      });
    });
  }

  /** A gateway, a coordinator and a worker; the flags by which others reach the first two. */
  async cluster(ofGateway: string[] = [], ofWorker: string[] = []): Promise<string[]> {
    const gateway = `http://${await this.start(LISTENING, "gateway", ...ofGateway, ...STORE)}`;
    return this.#around(gateway, ofWorker);
  }

  /** The same, with the address at which its gateway answers for doors over HTTP. */
  async clusterWithDoors(): Promise<{ services: string[]; doors: string }> {
    const patterns = [/gateway listening on (\S+)/, /http listening on (\S+)/];
    const { found } = await this.run(patterns, "gateway", "--http-listen", "127.0.0.1:0", ...STORE);
    const [gateway, doors] = found.map((address) => `http://${address}`);
    return { services: await this.#around(gateway ?? ""), doors: doors ?? "" };
  }

  async #around(gateway: string, ofWorker: string[] = []): Promise<string[]> {
    const coordinator = `http://${await this.start(LISTENING, "coordinator", "--gateway", gateway, ...STORE)}`;
    const services = ["--coordinator", coordinator, "--gateway", gateway];
    await this.start(/(\S+)/, "worker", ...services, ...ofWorker);
    return services;
  }

  /** Serves a model that answers with what `reply` gives. */
  async model(reply: () => string): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        const message = { role: "assistant", content: reply() };
        const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({ model: "m", choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
      });
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  close(): void {
    for (const child of this.#started) {
      child.removeAllListeners("exit");
      child.kill("SIGKILL");
    }
    for (const server of this.#servers) server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a command prints that serves pages: their address with the access token. */
export const PAGES = /(http:\/\/127\.0\.0\.1:\d+\/#token=\w+)/;

/** The link to a seat that `agon run --web` prints. */
export const inviting = (door: string) => new RegExp(`invite ${door}: (http://127\\.0\\.0\\.1:\\d+/seat#invite=\\S+)`);

/** The address of pages without the token. */
export const originOf = (address: string) => new URL(address).origin;
