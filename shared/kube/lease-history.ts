import type { Lease } from '../api/kubernetes.ts';
import { RESTORES_SEEN_ANNOTATION } from '../api/names.ts';
import { parseWireTime, toWireMicroTime } from '../api/wire-time.ts';
import { isOlder } from './resource-version.ts';

/** What stands in place of a Lease that we keep is not what can have become of it: its cluster was restored from an older backup. */
export class LeaseWentBack extends Error {
  override readonly name = 'LeaseWentBack';
}

/**
 * Why a Lease cannot have come to be from what was known of it last; undefined when it can. A write is conditional on the one before it,
 * each new holder counts one transition more, and each renewal of one holder is later than that before it ({@link renewalTime}). So neither
 * a renewal whose answer was lost nor somebody who has taken it over looks like one. One that is gone may have been deleted by somebody;
 * one that was made anew tells by its resourceVersion alone.
 */
export function leaseWentBack(name: string, last: Lease | undefined, now: Lease | undefined): LeaseWentBack | undefined {
  if (last === undefined || now === undefined) return undefined;
  const isEarlierVersion = isOlder(now.metadata.resourceVersion, last.metadata.resourceVersion);
  const isSame = now.metadata.uid === last.metadata.uid;
  if (!isEarlierVersion && !(isSame && (isEarlier(stateOf(now), stateOf(last)) || restoresSeen(now) !== restoresSeen(last))))
    return undefined;
  return new LeaseWentBack(`Lease ${name} went back from ${told(last)} to ${told(now)}, as after a restore from an older backup`);
}

/**
 * Why a Lease that we hold is to be taken for one of a restored cluster, by who needs not be certain: it also is gone when somebody has
 * deleted it.
 */
export const leaseVanished = (name: string, last: Lease | undefined, now: Lease | undefined): LeaseWentBack | undefined =>
  last === undefined || now?.metadata.uid === last.metadata.uid
    ? undefined
    : new LeaseWentBack(`Lease ${name} is not the one that was held, as after a restore from an older backup, or because it was deleted`);

/**
 * What tells others who keep an eye on this Lease that its holder has found it put back: by the time they look, it may have been renewed.
 */
export function withRestoreSeen(lease: Lease): Lease {
  const annotations = { ...lease.metadata.annotations, [RESTORES_SEEN_ANNOTATION]: String(restoresSeen(lease) + 1) };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}

const restoresSeen = ({ metadata }: Lease): number => Number(metadata.annotations?.[RESTORES_SEEN_ANNOTATION] ?? 0) || 0;

/**
 * The time of a renewal that follows `previous`, in milliseconds since the Unix epoch: by the clock, but never earlier than that, as clocks
 * are set.
 */
export function renewalTime(nowMs: number, previous: Lease['spec']): number {
  const lastMs = parseWireTime(previous?.renewTime) ?? 0;
  return Math.max(nowMs, lastMs < TIME_MS_MAX ? lastMs + 1 : 0);
}

/** The last year that a time on the wire can have. */
const TIME_MS_MAX = Date.UTC(9999, 0);

type State = { readonly transitions: number; readonly renewedMs: number | undefined };
const stateOf = ({ spec }: Lease): State => ({ transitions: spec?.leaseTransitions ?? 0, renewedMs: parseWireTime(spec?.renewTime) });

function isEarlier(one: State, other: State): boolean {
  if (one.transitions !== other.transitions) return one.transitions < other.transitions;
  return one.renewedMs !== undefined && other.renewedMs !== undefined && one.renewedMs < other.renewedMs;
}

function told(lease: Lease): string {
  const { renewedMs, transitions } = stateOf(lease);
  const when = renewedMs === undefined ? 'no renewal' : `its renewal of ${toWireMicroTime(renewedMs)}`;
  return `${when} (transition ${transitions})`;
}
