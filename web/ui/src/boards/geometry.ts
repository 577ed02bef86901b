// Places of marks in pictures, so that none covers another.

export type Point = { x: number; y: number };

/** Levels for marks on a line, so that marks nearer than `size` stand on top of each other. */
export function stack(places: number[], size: number): number[] {
  const order = places.map((_, index) => index).sort((one, other) => places[one]! - places[other]!);
  const ends: number[] = [];
  const levels = places.map(() => 0);
  for (const index of order) {
    const place = places[index]!;
    let level = 0;
    while (level < ends.length && place - ends[level]! < size) level += 1;
    ends[level] = place;
    levels[index] = level;
  }
  return levels;
}

/** The places moved as little as needed to lie `size` apart between `low` and `high`. */
export function spread(places: number[], size: number, low: number, high: number): number[] {
  const order = places.map((_, index) => index).sort((one, other) => places[one]! - places[other]!);
  const moved = [...places];
  let free = low;
  for (const index of order) {
    moved[index] = Math.max(moved[index]!, free);
    free = moved[index]! + size;
  }
  let limit = high;
  for (const index of order.reverse()) {
    moved[index] = Math.min(moved[index]!, limit);
    limit = moved[index]! - size;
  }
  return moved;
}

/** Points at equal steps along an ellipse round the origin, clockwise from the top. */
export function ring(count: number, radiusX: number, radiusY: number): Point[] {
  const pieces = 720;
  const lengths = [0];
  for (let piece = 1; piece <= pieces; piece += 1) {
    const from = onEllipse(piece - 1, pieces, radiusX, radiusY);
    const to = onEllipse(piece, pieces, radiusX, radiusY);
    lengths.push(lengths[piece - 1]! + Math.hypot(to.x - from.x, to.y - from.y));
  }
  const step = lengths[pieces]! / Math.max(1, count);
  let piece = 0;
  return Array.from({ length: count }, (_, index) => {
    while (piece < pieces && lengths[piece + 1]! <= index * step) piece += 1;
    return onEllipse(piece, pieces, radiusX, radiusY);
  });
}

/** The radius of the height that gives an ellipse of this width room for so many marks. */
export function radiusFor(count: number, slot: number, radiusX: number, least: number): number {
  const mean = (count * slot) / (2 * Math.PI);
  return Math.max(least, Math.sqrt(Math.max(0, 2 * mean * mean - radiusX * radiusX)));
}

function onEllipse(piece: number, pieces: number, radiusX: number, radiusY: number): Point {
  const angle = (piece / pieces) * 2 * Math.PI - Math.PI / 2;
  return { x: Math.cos(angle) * radiusX, y: Math.sin(angle) * radiusY };
}
