import { deniedBy, SYSTEM_NAMESPACES } from '../../shared/api/denied-namespaces.ts';
import { isAddressRange } from '../../shared/kube/address-ranges.ts';
import { durationMs, FlagError, text, wordsOf } from '../../shared/runtime/flags.ts';
import { durationShape, type ValueShape } from '../../shared/runtime/value-shape.ts';
import { FENCE_MARGIN_MS } from '../api/fenced-off.ts';

/** Names of namespaces, of which none is the system's own. */
const NAMESPACE = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', not: { pattern: '^kube-' } } as const;

export const NAMESPACES_SHAPE: ValueShape = { anyOf: [{ enum: [['*']] }, { type: 'array', minItems: 1, items: NAMESPACE }] };

export const CARRY_NAMESPACES_SHAPE: ValueShape = { type: 'array', items: NAMESPACE };

/** A list of names, of which no one may hold a comma. */
export const NAMES = { type: 'array', items: { type: 'string', pattern: '^ *[^, ][^,]*$' } } as const;

/** API servers issue none for less. */
const TOKEN_LIFE_MIN_MS = 600_000;

const TOKEN_LIFE_MAX_MS = 168 * 3_600_000;

export const TOKEN_LIFE: ValueShape = {
  anyOf: [durationShape(TOKEN_LIFE_MIN_MS, TOKEN_LIFE_MAX_MS), { type: 'string', pattern: '^0+(ms|s|m|h)?$' }, { enum: [0] }],
};

export function lostTimeout(given: string): number {
  const timeoutMs = given === '0' ? 0 : durationMs(given);
  if (timeoutMs === 0 || timeoutMs > FENCE_MARGIN_MS) return timeoutMs;
  throw new FlagError(
    `${JSON.stringify(given)} is shorter than any fence takes; write more than 30s, such as 15m, or 0 to move no Job off a lost cluster`,
  );
}

export function tokenLife(given: string): number {
  const lifeMs = given === '0' ? 0 : durationMs(given);
  if (lifeMs === 0 || (lifeMs >= TOKEN_LIFE_MIN_MS && lifeMs <= TOKEN_LIFE_MAX_MS)) return lifeMs;
  throw new FlagError(`${JSON.stringify(given)} is not between 10m and 168h; write such as 24h, or 0 to renew no tokens`);
}

export function renewInterval(given: string): number {
  const intervalMs = durationMs(given);
  if (intervalMs >= 500 && intervalMs <= 60_000) return intervalMs;
  throw new FlagError(`${JSON.stringify(given)} is not between 500ms and 1m; a sixth of the workers' --fence-after is a good choice`);
}

/** As in Kueue: one of them, or both in this order. */
export function queueName(given: string): string {
  if (given === '') return given;
  if (!given.includes(':')) return text(given);
  throw new FlagError(`${JSON.stringify(given)} contains a colon, which BullMQ uses in its keys; leave it out`);
}

export function submissionNamespaces(given: string): readonly string[] | '*' {
  if (given === '*') return given;
  const names = wordsOf(given);
  const wrong = names.find(isNoNamespace);
  if (wrong === undefined && names.length > 0) return names;
  throw new FlagError(
    `${JSON.stringify(wrong ?? given)} is no namespace for submissions; write names of namespaces that are not kube-*, or * for all of these`,
  );
}

/** Namespaces from which objects are carried; none of the system's own. */
export function carryNamespaces(given: string): readonly string[] {
  const names = wordsOf(given);
  const wrong = names.find(isNoNamespace);
  if (wrong === undefined) return names;
  throw new FlagError(`${JSON.stringify(wrong)} is not a namespace to carry objects from; write names of namespaces that are not kube-*`);
}

const isNoNamespace = (name: string): boolean =>
  !new RegExp(NAMESPACE.pattern).test(name) || deniedBy(SYSTEM_NAMESPACES, name) !== undefined;

export function addressRanges(given: string): readonly string[] {
  const ranges = wordsOf(given);
  const wrong = ranges.find((each) => !isAddressRange(each));
  if (wrong === undefined) return ranges;
  throw new FlagError(`${JSON.stringify(wrong)} is no range of addresses; write ranges such as 169.254.0.0/16,fe80::/10`);
}

/** The id of a manager, which becomes the value of a label. */
export function managerId(given: string): string {
  if (/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(given)) return given;
  throw new FlagError(`${JSON.stringify(given)} is no label value; write at most 63 letters, digits, "-", "_" and "."`);
}
