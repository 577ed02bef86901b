// Makes text from the server safe to read. Models write it, so it can be hostile: characters that are
// invisible or change the text direction are replaced by their code points. It never makes markup.

/** Control characters except tab and line feed, direction marks, and invisible characters. */
const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}",
  "gu",
);

/** The text with every invisible character replaced by its code point, as in [U+202E]. */
export function shown(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** The first `most` characters, without splitting a surrogate pair. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? most - 1 : most);
}

/** At most `most` characters on one line, for titles and for screen readers. */
export function oneLine(text: string, most = 300): string {
  const start = beginning(text, most);
  const line = shown(start).replace(/\s+/g, " ").trim();
  return start.length < text.length ? `${line}…` : line;
}
