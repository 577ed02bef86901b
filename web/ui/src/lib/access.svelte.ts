// Whether the reader has to sign in, and the access token that a link may carry.

export const access = $state({ isSignedOut: false });

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
