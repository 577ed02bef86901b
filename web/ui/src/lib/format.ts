// Formats numbers and names the same way on every page.

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const compact = new Intl.NumberFormat("en", { notation: "compact" });

export const NO_VALUE = "–";

/** A measured number with as many digits as a reader needs. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NO_VALUE;
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return plain.format(value).replace("-", "−");
}

/** A short number for the axis of a chart. */
export function tick(value: number): string {
  return Math.abs(value) < 10_000 ? number(value) : compact.format(value).replace("-", "−");
}

/** A count without what is counted. */
export function bare(value: number): string {
  return whole.format(value);
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${bare(value)} ${value === 1 ? one : many}`;
}

export function dollars(value: number): string {
  if (value === 0) return "$0";
  return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
}

export function seconds(value: number): string {
  return value < 10 ? `${value.toFixed(1)} s` : `${whole.format(value)} s`;
}

/** "first_sealed_auction" as "First sealed auction". */
export function words(name: string): string {
  const text = name.replaceAll(/[_-]+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The letter of a seat: A to Z, then AA. */
export function letter(seat: number): string {
  const last = String.fromCharCode(65 + (seat % 26));
  return seat < 26 ? last : letter(Math.floor(seat / 26) - 1) + last;
}

/** "A", "A and B", "A, B and C". */
export function listed(names: string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The colour variable of a seat; letters tell apart the seats that share one. */
export function seatColour(seat: number): string {
  return `var(--seat-${seat % 10})`;
}

/** A length of time in the largest units that matter. */
export function span(value: number): string {
  const minutes = Math.round(value / 60);
  if (value < 90) return `${whole.format(value)} s`;
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
