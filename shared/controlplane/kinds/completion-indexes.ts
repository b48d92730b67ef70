/**
 * Lists of completion indexes as the API writes them: `1,3-5,7`. The strict reader of validation; its sentences are upstream's.
 */
export type IndexCount = { readonly count: number } | { readonly problem: string };

/** How many indexes a list names, or the first thing wrong with it. '' names none. */
export const countIndexes = (text: string, completions: number): IndexCount => {
  if (text === '') return { count: 0 };
  let count = 0;
  let last: number | undefined;
  for (const fragment of text.split(',')) {
    const interval = readInterval(fragment, completions);
    if ('problem' in interval) return interval;
    const { first, end } = interval;
    if (last !== undefined && last >= first) return notIncreasing(last, first);
    last = end;
    count += end - first + 1;
  }
  return { count };
};

/** The first index that stands in both lists. Fragments that cannot be read are passed over: countIndexes reports them. */
export const firstCommonIndex = (one: string, other: string, completions: number): number | undefined => {
  const left = readableIntervals(one, completions);
  const right = readableIntervals(other, completions);
  let i = 0;
  let j = 0;
  for (let a = left[i], b = right[j]; a !== undefined && b !== undefined; a = left[i], b = right[j]) {
    if (a.first <= b.end && b.first <= a.end) return Math.max(a.first, b.first);
    if (a.first <= b.first) i++;
    else j++;
  }
  return undefined;
};

type Interval = { readonly first: number; readonly end: number };

const readableIntervals = (text: string, completions: number): Interval[] =>
  text === ''
    ? []
    : text
        .split(',')
        .map((fragment) => readInterval(fragment, completions))
        .filter((interval) => 'first' in interval);

const readInterval = (fragment: string, completions: number): Interval | { readonly problem: string } => {
  const parts = fragment.split('-');
  if (parts.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return { problem: `the fragment ${JSON.stringify(fragment)} ${rule}` };
  }
  const limits: number[] = [];
  for (const part of parts) {
    // Signs and leading zeros are read as strconv.Atoi reads them.
    if (!/^\+?\d+$/.test(part)) return { problem: `cannot convert string to integer for index: ${JSON.stringify(part)}` };
    if (Number(part) >= completions) return { problem: `too large index: ${JSON.stringify(part)}` };
    limits.push(Number(part));
  }
  const [first = 0, end = first] = limits;
  return limits.length === 2 && first >= end ? notIncreasing(first, end) : { first, end };
};

const notIncreasing = (previous: number, current: number): { readonly problem: string } => ({
  problem: `non-increasing order, previous: ${previous}, current: ${current}`,
});
