// The seat of this page: the invitation that opens it, what the server tells of it, and what its person
// does. The server keeps everything; a page that is loaded again goes on where it was.

import type { Answer, Checked, SeatEvent, SeatState } from "./types";

const TRY_AGAIN_MS = 2_000;

/** The server takes a page for closed that says nothing for a good minute. */
const BEAT_MS = 10_000;

const EVENT: SeatEvent["event"] = "seat";

/** What stands before an invitation in the fragment of a link. */
const START = "#invite=";

/** A refusal, with a sentence for the reader. */
export class SeatError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

export class SeatStore {
  state = $state.raw<SeatState>();
  /** Why there is no seat. */
  closed = $state<string>();
  /** Whether the stream is interrupted. */
  isStale = $state(false);
  /** How far the server's clock is ahead, in milliseconds. */
  ahead = 0;
  #id = "";
  #source: EventSource | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /** Takes the seat of the address; returns what ends following it. */
  open(path: string): () => void {
    // A link that is opened once more where its page is changes nothing but the fragment.
    const again = () => {
      if (!location.hash.startsWith(START)) return;
      this.#stop();
      void this.#enter(location.pathname);
    };
    addEventListener("hashchange", again);
    void this.#enter(path);
    return () => {
      removeEventListener("hashchange", again);
      this.#stop();
    };
  }

  async #enter(path: string): Promise<void> {
    const invite = takeInvitation();
    const named = path.split("/")[2] ?? "";
    this.#id = invite === null ? named : (invite.split(".")[0] ?? "");
    if (this.#id === "") {
      this.closed = "Open the whole link that you were sent: it opens your seat.";
      return;
    }
    try {
      if (invite !== null) {
        const query = Object.fromEntries(new URLSearchParams(location.search));
        await this.#post("claim", { invite, query });
        history.replaceState(history.state, "", `/seat/${encodeURIComponent(this.#id)}`);
      }
      await this.#refresh();
    } catch (problem) {
      this.#fail(problem);
      return;
    }
    this.#follow();
    this.#beat = setInterval(() => void this.#post("beat", {}).catch(() => undefined), BEAT_MS);
  }

  /** Asks for the state; never while the stream tells it. */
  async #refresh(): Promise<void> {
    this.#take((await this.#call("", { method: "GET" })) as SeatState);
  }

  #take(state: SeatState): void {
    this.ahead = state.now - Date.now();
    this.state = state;
    this.isStale = false;
    this.closed = undefined;
  }

  #follow(): void {
    if (this.#isOver) return;
    const source = new EventSource(this.#path("/events"));
    this.#source = source;
    source.addEventListener(EVENT, (event: MessageEvent<string>) =>
      this.#take(JSON.parse(event.data) as SeatEvent["data"]),
    );
    // The browser connects again by itself, unless it was refused.
    source.addEventListener("error", () => {
      if (this.#isOver) return;
      this.isStale = true;
      if (source.readyState !== EventSource.CLOSED) return;
      this.#retry();
    });
  }

  #retry(): void {
    this.#source?.close();
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#refresh().then(
        () => this.#follow(),
        (problem: unknown) => {
          if (problem instanceof SeatError && problem.status === 401) this.#fail(problem);
          else this.#retry();
        },
      );
    }, TRY_AGAIN_MS);
  }

  #fail(problem: unknown): void {
    this.closed = problem instanceof Error ? problem.message : String(problem);
    this.#stop();
  }

  #stop(): void {
    this.#source?.close();
    clearInterval(this.#beat);
    clearTimeout(this.#again);
  }

  consent = () => this.#act("consent", { agree: true });
  ready = (ready: boolean) => this.#act("ready", { ready });
  leave = () => this.#act("leave", {});
  comeBack = () => this.#act("return", {});
  answer = (ask: string, value: Answer) => this.#act("answer", { ask, value });
  questions = (answers: Record<string, Answer | null>) => this.#act("questions", { answers });

  /** What was answered wrongly. */
  async check(answers: string[]): Promise<Checked["wrong"]> {
    const checked = (await this.#act("check", { answers })) as Checked;
    return checked.wrong;
  }

  /** The person was told that they have done everything; nothing more will come. */
  async finish(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#post("done", {}).catch(() => undefined);
    this.#stop();
  }

  /** What was done shows in the state, which comes by the stream: the two would overtake each other. */
  #act = (what: string, body: object): Promise<unknown> => this.#post(what, body);

  #post(what: string, body: object): Promise<unknown> {
    return this.#call(`/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  #path = (below: string) => `/api/v1/seats/${encodeURIComponent(this.#id)}${below}`;

  async #call(below: string, options: RequestInit): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(this.#path(below), { ...options, credentials: "same-origin" });
    } catch {
      throw new SeatError(0, "The server does not respond. Try again in a moment.");
    }
    const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
    if (response.ok) return body;
    const said = (body as { error?: unknown } | null)?.error;
    throw new SeatError(response.status, sentence(typeof said === "string" ? said : `status ${response.status}`));
  }
}

/** Takes the invitation from the fragment of the address and erases it there. */
function takeInvitation(): string | null {
  if (!location.hash.startsWith(START)) return null;
  const invite = location.hash.slice(START.length);
  history.replaceState(history.state, "", location.pathname + location.search);
  return invite;
}

/** With a capital and a full stop. */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
