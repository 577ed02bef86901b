// Where these pages stand: at a server that answers, or in a published site of plain files. Addresses of a
// site stand behind the hash sign, so that any host of files serves them.

export const isSite = document.querySelector('meta[name="agon-site"]') !== null;

/** The address of a page by its path, as links have it. */
export const link = (path: string) => (isSite ? `#${path}` : path);

/** The address of a file of the front end. */
export const fileOf = (path: string) => (isSite ? path : `/${path}`);

/** The file of results in a site: those of one run, or of all. */
export function fileIn(path: string[], query: URLSearchParams): string {
  const [, ...rest] = path;
  const run = query.get("run");
  const scope = run === null ? "all" : `run-${run}`;
  return ["data/results", scope, ...rest].map(encodeURI).join("/");
}
