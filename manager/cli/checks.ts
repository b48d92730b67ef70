import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { coloured } from './colours.ts';
import { plain } from './plain-text.ts';
import { wrapHanging } from './text-layout.ts';

/** What was looked at, and how it is. `note`: it works, and is worth knowing. */
export type Check = {
  readonly check: string;
  readonly result: 'ok' | 'note' | 'wrong';
  /** What was found. */
  readonly found: string;
  /** What to do about it; absent where nothing is to be done. */
  readonly remedy?: string;
  /** The alert that tells of the same, and has a runbook of its name. */
  readonly alert?: string;
};

export const ok = (check: string, found: string): Check => ({ check, result: 'ok', found });
export const note = (check: string, found: string, remedy?: string, alert?: string): Check => ({
  check,
  result: 'note',
  found,
  ...omitUndefined({ remedy, alert }),
});
export const wrong = (check: string, found: string, remedy: string, alert?: string): Check => ({
  check,
  result: 'wrong',
  found,
  remedy,
  ...omitUndefined({ alert }),
});

/** What is wrong before what is not, each in the order in which they were given: causes are looked at before what follows from them. */
export const wrongFirst = (checks: readonly Check[]): Check[] =>
  checks.toSorted((a, b) => Number(b.result === 'wrong') - Number(a.result === 'wrong'));

/** A line each, the remedy below, and the runbook; all in one line where lines have no end, so that `grep` and `head` show the remedy. */
export function checkLines(checks: readonly Check[], { width, colours }: { readonly width: number; readonly colours: boolean }): string[] {
  const room = Math.max(0, ...checks.map(({ check }) => plain(check).length));
  if (width === Infinity)
    return checks.map(({ check, result, found, remedy, alert }) =>
      [
        `${result.padEnd(5)}  ${plain(check).padEnd(room)}  ${plain(found)}`,
        ...(remedy === undefined ? [] : [`-> ${plain(remedy)}`]),
        ...(alert === undefined ? [] : [`(runbook: docs/runbooks/${alert}.md)`]),
      ].join('  '),
    );
  return checks.flatMap(({ check, result, found, remedy, alert }) => {
    const indent = `${result.padEnd(5)}  `.length;
    const [first = '', ...rest] = wrapHanging(plain(found), width - indent - room - 2, 2);
    const head = `${colours ? coloured(result) : result}${' '.repeat(indent - result.length)}${plain(check).padEnd(room)}  `;
    const below = remedy === undefined ? [] : wrapHanging(`-> ${plain(remedy)}`, width - indent - 2, 3).map((line) => `  ${line}`);
    const page = alert === undefined ? [] : [`  runbook: docs/runbooks/${alert}.md`];
    const inner = ' '.repeat(room + 2);
    return [
      `${head}${first}`,
      ...[...rest.map((line) => `${inner}${line}`), ...below, ...page].map((line) => `${' '.repeat(indent)}${line}`),
    ];
  });
}

export const areFine = (checks: readonly Check[]): boolean => checks.every(({ result }) => result !== 'wrong');

/** Clocks that differ by more than this are said to; times of Kubernetes have whole seconds. */
const CLOCK_SKEW_MAX_MS = 5_000;

/** `theirsMs` was read between two looks at our own clock. */
export function clockCheck(check: string, theirsMs: number, beforeMs: number, afterMs: number): Check {
  // Their seconds are cut, so that they may be almost one more.
  const behindMs = beforeMs - (theirsMs + 999);
  const aheadMs = theirsMs - afterMs;
  const offMs = Math.max(behindMs, aheadMs, 0);
  if (offMs <= CLOCK_SKEW_MAX_MS) return ok(check, 'no more than 5 s off');
  return note(
    check,
    `${Math.round(offMs / 1000)} s ${behindMs > aheadMs ? 'behind' : 'ahead of'} this machine`,
    'set both clocks by NTP: durations, tokens and Leases are told by them',
  );
}

/** The charts ask for this version at least: Job fields that copies need are on by default from then on. */
const MINOR_MIN = 32;

export function versionCheck(check: string, version: string): Check {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return note(check, `${version}, which is no version of Kubernetes that is known`);
  if (Number(major) > 1 || Number(minor) >= MINOR_MIN) return ok(check, version);
  return wrong(check, `${version} is older than v1.${MINOR_MIN}`, `upgrade the cluster to v1.${MINOR_MIN} or newer`);
}
