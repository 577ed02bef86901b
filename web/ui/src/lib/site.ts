// Answers of the interface out of the files of a published site. Loaded in sites only.

export async function answer(path: string[], query: URLSearchParams, signal: AbortSignal): Promise<unknown> {
  void [path, query, signal];
  throw new Error("not yet");
}
