import type { PlayedCase } from './api-case-player.ts';
import { isObject } from './json-path.ts';

/** Stand-ins for what differs from run to run. The same thing has the same stand-in all through a case. */
export interface Placeholders {
  /** Names, UIDs, times, addresses and words of the case in a text. */
  text(text: string): string;
  /** `<rv N>`: the Nth version of that object which the case saw. */
  version(uid: string, resourceVersion: string): string;
}

export function createPlaceholders({ answers, words }: PlayedCase, nowMs: number): Placeholders {
  const seen: Seen = { names: new Map(), uids: new Map(), versions: new Map() };
  collect(answers, seen);
  const ranks = new Map([...seen.versions].map(([uid, versions]) => [uid, [...versions].toSorted(byVersion)]));
  const versions = new Set([...seen.versions.values()].flatMap((each) => [...each]));
  const replaceInOrder = [
    ...longestFirst(seen.names).map(replacing),
    ...[...seen.uids].map(replacing),
    (text: string) => text.replaceAll(UUID, '<uid>'),
    (text: string) => text.replaceAll(TIME, (time: string, fraction?: string) => timeWord(time, fraction, nowMs)),
    ...longestFirst(Object.entries(words).flatMap(([word, meaning]) => (word === CA_BUNDLE ? [] : [[meaning, word] as const]))).map(
      replacing,
    ),
  ];
  return {
    text: (text) => {
      if (text === words[CA_BUNDLE]) return CA_BUNDLE;
      const normal = replaceInOrder.reduce((replaced, replace) => replace(replaced), withoutGoWords(text));
      return withoutServerWords(/resource ?version/i.test(normal) ? withoutVersions(normal, versions) : normal);
    },
    version: (uid, resourceVersion) => `<rv ${(ranks.get(uid)?.indexOf(resourceVersion) ?? -1) + 1}>`,
  };
}

const CA_BUNDLE = '{caBundle}';
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** What a server appends to `generateName`: five letters and digits that make no words. */
const GENERATED = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

/** Names, UIDs with their stand-ins, and the versions of each UID. */
type Seen = {
  readonly names: Map<string, string>;
  readonly uids: Map<string, string>;
  readonly versions: Map<string, Set<string>>;
};

/** The recordings number what has the same name in this order: keys as text, those of lists (`10` before `2`) too. */
function collect(value: unknown, seen: Seen): void {
  if (!isObject(value)) return;
  if (isObject(value['metadata'])) collectIdentity(value['metadata'], seen);
  for (const key of Object.keys(value).toSorted()) collect(value[key], seen);
}

function collectIdentity({ name, generateName, uid, resourceVersion }: Record<string, unknown>, { names, uids, versions }: Seen): void {
  if (typeof name !== 'string' || name === '') return;
  if (
    typeof generateName === 'string' &&
    generateName !== '' &&
    name.startsWith(generateName) &&
    GENERATED.test(name) &&
    !names.has(name)
  ) {
    names.set(
      name,
      unusedIn(names, (nth) => `${generateName}<gen${nth === 1 ? '' : nth}>`),
    );
  }
  if (typeof uid !== 'string' || uid === '') return;
  if (!uids.has(uid))
    uids.set(
      uid,
      unusedIn(uids, (nth) => `<uid ${names.get(name) ?? name}${nth === 1 ? '' : `#${nth}`}>`),
    );
  if (typeof resourceVersion !== 'string') return;
  versions.set(uid, (versions.get(uid) ?? new Set()).add(resourceVersion));
}

function unusedIn(taken: ReadonlyMap<string, string>, label: (nth: number) => string): string {
  const used = new Set(taken.values());
  for (let nth = 1; ; nth++) if (!used.has(label(nth))) return label(nth);
}

const byVersion = (a: string, b: string): number => (/^\d+$/.test(a) && /^\d+$/.test(b) ? Number(BigInt(a) - BigInt(b)) : a < b ? -1 : 1);

const longestFirst = (pairs: Iterable<readonly [string, string]>): (readonly [string, string])[] =>
  [...pairs].toSorted(([a], [b]) => b.length - a.length);

const replacing =
  ([from, to]: readonly [string, string]) =>
  (text: string): string =>
    text.replaceAll(from, to);

const TWO_DAYS_MS = 2 * 86_400_000;

/** Times near now are the server's; others are the case's own and stay. */
function timeWord(time: string, fraction: string | undefined, nowMs: number): string {
  if (Math.abs(Date.parse(time) - nowMs) >= TWO_DAYS_MS) return time;
  return fraction === undefined ? '<time>' : '<microtime>';
}

/** Numbers in a message about resource versions that are such. */
const withoutVersions = (text: string, versions: ReadonlySet<string>): string =>
  text
    .replace(/\b\d+\b/g, (digits) => (versions.has(digits) ? '<rv>' : digits))
    .replace(/current: \d+/, 'current: <rv>')
    .replace(/\(\d+\)/g, '(<rv>)');

const withoutServerWords = (text: string): string =>
  text
    .replace(/hash=[0-9A-F]{16,}/g, 'hash=<hash>')
    .replace(/ in scheme "[^"]*"/, ' in scheme <scheme>')
    .replace(/\b(127\.0\.0\.1|\[::1\]):\d{4,5}\b/g, '<address>');

/** Dumps of Go structs become `<object>`, what Go's runtime says `<why>`: no API, and different in each release. */
function withoutGoWords(text: string): string {
  let normal = text.replace(/Invalid value: "(?:\{|map\[)(?:\\.|[^"\\])*"/g, 'Invalid value: "<object>"');
  for (let at = normal.indexOf(DUMP); at >= 0; at = normal.indexOf(DUMP, at + 1)) {
    const begin = at + DUMP.length - 1;
    const end = endOfBraces(normal, begin);
    // Fields of a Go struct begin with a capital letter; anything else in braces is JSON of the API.
    if (/"[A-Z]\w*":/.test(normal.slice(begin, end))) normal = `${normal.slice(0, begin)}<object>${normal.slice(end + 1)}`;
  }
  return normal.replace(/(cannot unmarshal|json parse error:|error converting YAML to JSON:|failed to call webhook:) .*/, '$1 <why>');
}

const DUMP = 'Invalid value: {';

/** Where the brace at `begin` closes, or the end of the text; braces within quotes do not count. */
function endOfBraces(text: string, begin: number): number {
  let depth = 0;
  let quoted = false;
  for (let position = begin; position < text.length; position++) {
    const character = text[position];
    if (quoted && character === '\\') position++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '{') depth++;
    else if (!quoted && character === '}' && --depth === 0) return position;
  }
  return text.length;
}
