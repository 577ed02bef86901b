// Whether the reader has to sign in, and the access token that a link may carry.

export const access = $state({ isSignedOut: false, refused: "" });

/** Why somebody who comes back from a provider is not signed in. */
const REFUSALS: Record<string, string> = {
  unknown: "You have signed in, but nobody has given you access here. Ask whoever runs this installation.",
  failed: "Signing in did not work. Try again; if that does not help, the coordinator's log says why.",
  busy: "Too many teams are using these pages. Try again later.",
};

/** Takes the reason why somebody was not signed in from the fragment of the address and erases it there. */
export function takeRefusal(): void {
  const word = /^#refused=(\w+)$/.exec(location.hash)?.[1];
  if (word === undefined) return;
  access.refused = REFUSALS[word] ?? "";
  history.replaceState(history.state, "", location.pathname + location.search);
}

/** Takes the token from the fragment of the address and erases it there. */
export function takeLinkToken(): string | null {
  if (!location.hash.startsWith("#token=")) return null;
  const raw = location.hash.slice("#token=".length);
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}
