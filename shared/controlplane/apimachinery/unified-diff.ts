/**
 * The difference of two texts as upstream's diff package prints it: hunks of a unified diff with three lines of context, no names of
 * files. The matching is that of Python's difflib, which upstream uses a port of: the longest common run first, then left and right
 * of it; in long texts lines that occur often are no anchors.
 */
export const unifiedDiff = (before: string, after: string): string => {
  const [a, b] = [linesOf(before), linesOf(after)];
  return hunksOf(opcodesOf(a, b))
    .map((hunk) => hunkText(hunk, a, b))
    .join('');
};

type Opcode = { readonly equal: boolean; readonly a1: number; readonly a2: number; readonly b1: number; readonly b2: number };
type Match = { readonly a: number; readonly b: number; readonly size: number };

const CONTEXT = 3;
/** From this many lines on, those that are more than one in a hundred are popular. */
const POPULAR_FROM = 200;

const linesOf = (text: string): string[] => text.split('\n').map((line) => `${line}\n`);

const opcodesOf = (a: readonly string[], b: readonly string[]): Opcode[] => {
  const opcodes: Opcode[] = [];
  let [i, j] = [0, 0];
  for (const { a: ai, b: bj, size } of [...matchesOf(a, b), { a: a.length, b: b.length, size: 0 }]) {
    if (i < ai || j < bj) opcodes.push({ equal: false, a1: i, a2: ai, b1: j, b2: bj });
    if (size > 0) opcodes.push({ equal: true, a1: ai, a2: ai + size, b1: bj, b2: bj + size });
    [i, j] = [ai + size, bj + size];
  }
  return opcodes;
};

/** Common runs in order; those that touch are one. */
const matchesOf = (a: readonly string[], b: readonly string[]): Match[] => {
  const places = placesOf(b);
  const found: Match[] = [];
  const search = (a1: number, a2: number, b1: number, b2: number): void => {
    const match = longestMatch(a, b, places, { a1, a2, b1, b2 });
    if (match.size === 0) return;
    search(a1, match.a, b1, match.b);
    found.push(match);
    search(match.a + match.size, a2, match.b + match.size, b2);
  };
  search(0, a.length, 0, b.length);
  const joined: Match[] = [];
  for (const match of found) {
    const last = joined.at(-1);
    if (last !== undefined && last.a + last.size === match.a && last.b + last.size === match.b) {
      joined[joined.length - 1] = { ...last, size: last.size + match.size };
    } else joined.push(match);
  }
  return joined;
};

const placesOf = (b: readonly string[]): Map<string, number[]> => {
  const places = new Map<string, number[]>();
  for (const [j, line] of b.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [j]);
    else known.push(j);
  }
  if (b.length < POPULAR_FROM) return places;
  const limit = Math.floor(b.length / 100) + 1;
  for (const [line, at] of places) if (at.length > limit) places.delete(line);
  return places;
};

type Window = { readonly a1: number; readonly a2: number; readonly b1: number; readonly b2: number };

/** The first of the longest runs of lines that both have, grown over popular lines on either side. */
const longestMatch = (a: readonly string[], b: readonly string[], places: ReadonlyMap<string, number[]>, window: Window): Match => {
  const { a1, a2, b1, b2 } = window;
  let best: Match = { a: a1, b: b1, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = a1; i < a2; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? '') ?? []) {
      if (j < b1) continue;
      if (j >= b2) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  let { a: ai, b: bj, size } = best;
  while (ai > a1 && bj > b1 && a[ai - 1] === b[bj - 1]) [ai, bj, size] = [ai - 1, bj - 1, size + 1];
  while (ai + size < a2 && bj + size < b2 && a[ai + size] === b[bj + size]) size++;
  return { a: ai, b: bj, size };
};

/** Changes with their context; those far from one another apart. */
const hunksOf = (opcodes: readonly Opcode[]): Opcode[][] => {
  const hunks: Opcode[][] = [];
  let hunk: Opcode[] = [];
  for (const [position, opcode] of opcodes.entries()) {
    let { a1, a2, b1, b2 } = opcode;
    if (opcode.equal && position === 0) [a1, b1] = [Math.max(a1, a2 - CONTEXT), Math.max(b1, b2 - CONTEXT)];
    if (opcode.equal && position === opcodes.length - 1) [a2, b2] = [Math.min(a2, a1 + CONTEXT), Math.min(b2, b1 + CONTEXT)];
    if (opcode.equal && a2 - a1 > 2 * CONTEXT) {
      hunk.push({ equal: true, a1, a2: Math.min(a2, a1 + CONTEXT), b1, b2: Math.min(b2, b1 + CONTEXT) });
      hunks.push(hunk);
      hunk = [];
      [a1, b1] = [Math.max(a1, a2 - CONTEXT), Math.max(b1, b2 - CONTEXT)];
    }
    hunk.push({ equal: opcode.equal, a1, a2, b1, b2 });
  }
  if (hunk.some(({ equal }) => !equal)) hunks.push(hunk);
  return hunks.filter((each) => each.some(({ equal }) => !equal));
};

const hunkText = (hunk: readonly Opcode[], a: readonly string[], b: readonly string[]): string => {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (first === undefined || last === undefined) return '';
  const body = hunk.flatMap(({ equal, a1, a2, b1, b2 }) =>
    equal
      ? a.slice(a1, a2).map((line) => ` ${line}`)
      : [...a.slice(a1, a2).map((line) => `-${line}`), ...b.slice(b1, b2).map((line) => `+${line}`)],
  );
  return `@@ -${range(first.a1, last.a2)} +${range(first.b1, last.b2)} @@\n${body.join('')}`;
};

/** Lines count from one; an empty range stands before the line that follows it. */
const range = (start: number, end: number): string => {
  const size = end - start;
  if (size === 1) return String(start + 1);
  return `${size === 0 ? start : start + 1},${size}`;
};
