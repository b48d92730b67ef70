import type { QueueNode } from '../views.ts';
import { isOfBytes } from './words.ts';

/** One quota of a queue, as something to turn. */
export type Dial = {
  /** As the server names it: `default:cpu`. */
  readonly name: string;
  readonly label: string;
  /** What it is now, without its suffix. */
  readonly now: number;
  /** `Gi`, `m` or nothing. */
  readonly suffix: string;
  /** As it is written beside the number. */
  readonly unit: string;
  readonly max: number;
  readonly step: number;
};

export type Wishes = {
  /** By name of the dial, what differs from now. */
  readonly quota: Readonly<Record<string, number>>;
  readonly weight: string | undefined;
  readonly drained: readonly string[];
};

export const NO_WISHES: Wishes = { quota: {}, weight: undefined, drained: [] };

const STEPS = 20;
const TIMES_MAX = 3;
/** For a quota of nothing. */
const MAX_OF_NONE = 10;

/** Quotas that have a limit, each from nothing to three times what it is. */
export function dialsOf({ quota }: Pick<QueueNode, 'quota'>): Dial[] {
  return quota.flatMap(({ flavor, resource, of }) => {
    const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)(\D*)$/.exec(of) ?? [];
    if (digits === undefined) return [];
    const now = Number(digits);
    const max = now === 0 ? MAX_OF_NONE : Math.ceil(now * TIMES_MAX);
    return [
      {
        name: `${flavor}:${resource}`,
        label: `${resource} of ${flavor}`,
        now,
        suffix,
        unit: unitOf(resource, suffix),
        max,
        step: Math.max(1, Math.round(max / TIMES_MAX / STEPS)),
      },
    ];
  });
}

/** `cores`, `Gi`, or what is counted. */
function unitOf(resource: string, suffix: string): string {
  if (resource === 'cpu') return suffix === 'm' ? 'millicores' : `${suffix}cores`;
  return suffix === '' ? (resource.includes('/') ? 'devices' : resource === 'pods' ? 'pods' : isOfBytes(resource) ? 'bytes' : '') : suffix;
}

/** What the server is asked; undefined where nothing differs. */
export function queryOf(dials: readonly Dial[], { quota, weight, drained }: Wishes): URLSearchParams | undefined {
  const query = new URLSearchParams();
  for (const { name, suffix, now } of dials) {
    const wanted = quota[name];
    if (wanted !== undefined && wanted !== now) query.append('quota', `${name}=${wanted}${suffix}`);
  }
  if (weight !== undefined && weight !== '') query.append('weight', weight);
  for (const cluster of drained) query.append('drain', cluster);
  return query.size === 0 ? undefined : query;
}
