/**
 * The two Leases on a worker cluster by which manager and worker know of each other. The manager renews one for its origin and says in it
 * for which fence token the cluster has been put in order; the worker renews one of its own and says in it who it is and which token it
 * asks for. Whoever may write Leases there may write anything into them: what cannot be read is left out, and nothing here throws.
 */
import { createHash } from 'node:crypto';
import { type FencedKind, parseFencedKinds } from './fenced-kinds.ts';
import { isJsonObject } from './json-value.ts';
import type { DeepReadonly, Lease } from './kubernetes.ts';
import {
  CONTROLLER_NAME_ANNOTATION,
  DEFAULT_LEASE_NAMESPACE,
  FENCE_AFTER_ANNOTATION,
  FENCE_TOKEN_ANNOTATION,
  FENCED_KINDS_ANNOTATION,
  FORMER_LEASE_NAMESPACE,
  HOME_VERSION_ANNOTATION,
  KINDS_ANNOTATION,
  ORIGIN_LABEL,
  RECONCILED_ANNOTATION,
  RENEWALS_SEEN_ANNOTATION,
  VERSION_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from './names.ts';
import { parseWireTime } from './wire-time.ts';

/** Name of the Lease that the manager of an origin renews. */
export const originLeaseName = (origin: string): string => `switchyard-origin-${digestOf(origin, 16)}`;

/** Name of the Lease of the worker that runs the Jobs of this controller name. */
export const workerLeaseName = (controllerName: string): string =>
  controllerName === WORKER_CONTROLLER_NAME ? 'switchyard-worker' : `switchyard-worker-${digestOf(controllerName, 8)}`;

const digestOf = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);

/** Where the Leases of a cluster may be, by what its WorkerCluster says: the namespace that counts, then that of earlier releases. */
export function leaseNamespaces(named: string | undefined): readonly string[] {
  // What was stored by an earlier release names its default.
  const isDefault = named === undefined || named === DEFAULT_LEASE_NAMESPACE || named === FORMER_LEASE_NAMESPACE;
  return isDefault ? [DEFAULT_LEASE_NAMESPACE, FORMER_LEASE_NAMESPACE] : [named];
}

/** Who holds the Lease of an origin: the cluster that the manager runs in, and which of its leaders. */
export type OriginHolder = { readonly homeUid: string; readonly instance: string };

export const formatOriginHolder = ({ homeUid, instance }: OriginHolder): string => `${homeUid}_${instance}`;

/** undefined for one that was written by somebody else, and for none. */
export function parseOriginHolder(identity: unknown): OriginHolder | undefined {
  const text = boundedText(identity, NAME_CHARACTERS_MAX);
  const at = text?.indexOf('_') ?? -1;
  return text === undefined || at <= 0 || at === text.length - 1 ? undefined : { homeUid: text.slice(0, at), instance: text.slice(at + 1) };
}

/** A resourceVersion of the home cluster, and what proves that the manager wrote it. */
export type HomeVersion = { readonly resourceVersion: string; readonly seal: string };

export const formatHomeVersion = ({ resourceVersion, seal }: HomeVersion): string => `${resourceVersion}.${seal}`;

export function parseHomeVersion(annotation: unknown): HomeVersion | undefined {
  const [, resourceVersion, seal] = /^(\d{1,40})\.([\w+/=-]{1,200})$/.exec(boundedText(annotation, NAME_CHARACTERS_MAX) ?? '') ?? [];
  return resourceVersion === undefined || seal === undefined ? undefined : { resourceVersion, seal };
}

/** What the Lease of an origin says. */
export type OriginLease = {
  readonly origin: string;
  /** undefined: nobody holds it, or somebody who is no manager. */
  readonly holder: OriginHolder | undefined;
  /** By the manager's clock, in milliseconds since the Unix epoch; undefined where it has none. */
  readonly renewedMs: number | undefined;
  /** The fence token for which the manager has put the cluster in order. */
  readonly reconciled: string | undefined;
  readonly homeVersion: HomeVersion | undefined;
  /** The kinds beside Jobs of which it makes copies. */
  readonly kinds: readonly FencedKind[];
};

/** undefined when this is no Lease of an origin: it has no such label, or not the name that goes with it. */
export function readOriginLease({ metadata, spec }: DeepReadonly<Lease>): OriginLease | undefined {
  const origin = boundedText(metadata.labels?.[ORIGIN_LABEL], NAME_CHARACTERS_MAX);
  if (origin === undefined || metadata.name !== originLeaseName(origin)) return undefined;
  return {
    origin,
    holder: parseOriginHolder(spec?.holderIdentity),
    renewedMs: parseWireTime(spec?.renewTime),
    reconciled: boundedText(metadata.annotations?.[RECONCILED_ANNOTATION], NAME_CHARACTERS_MAX),
    homeVersion: parseHomeVersion(metadata.annotations?.[HOME_VERSION_ANNOTATION]),
    kinds: parseFencedKinds(metadata.annotations?.[KINDS_ANNOTATION]),
  };
}

/** A renewal of an origin's Lease as its worker saw it last, and for how many seconds it has seen no other since. */
export type RenewalSeen = {
  readonly renewTime: string;
  readonly elapsedSeconds: number;
  /**
   * The fence that binds for this origin, which may be that of an earlier worker; undefined, as in older versions: the one that is
   * announced.
   */
  readonly fenceAfterSeconds: number | undefined;
};

/** What a worker tells of itself in its Lease. */
export type WorkerAnnouncement = {
  readonly controllerName: string;
  readonly version: string;
  /** 0: it has no fence. */
  readonly fenceAfterSeconds: number;
  readonly fenceToken: string;
  /** The kinds beside Jobs whose copies it stops, by `fencedKindName`. */
  readonly fencedKinds: readonly string[];
  /** By origin. */
  readonly renewalsSeen: ReadonlyMap<string, RenewalSeen>;
};

export const workerAnnotations = (announcement: WorkerAnnouncement): Record<string, string> => ({
  [CONTROLLER_NAME_ANNOTATION]: announcement.controllerName,
  [VERSION_ANNOTATION]: announcement.version,
  [FENCE_AFTER_ANNOTATION]: String(announcement.fenceAfterSeconds),
  [FENCE_TOKEN_ANNOTATION]: announcement.fenceToken,
  // Written also where there are none: what the worker before this one has announced must not stay.
  [FENCED_KINDS_ANNOTATION]: announcement.fencedKinds.join(','),
  [RENEWALS_SEEN_ANNOTATION]: JSON.stringify(Object.fromEntries([...announcement.renewalsSeen].slice(0, ORIGINS_MAX))),
});

/** undefined when it does not say who it is, for how long it runs without a manager, and which token it asks for. */
export function readWorkerAnnouncement({ metadata: { annotations = {} } }: DeepReadonly<Lease>): WorkerAnnouncement | undefined {
  const controllerName = boundedText(annotations[CONTROLLER_NAME_ANNOTATION], NAME_CHARACTERS_MAX);
  const fenceAfterSeconds = wholeSeconds(annotations[FENCE_AFTER_ANNOTATION]);
  const fenceToken = boundedText(annotations[FENCE_TOKEN_ANNOTATION], NAME_CHARACTERS_MAX);
  if (controllerName === undefined || fenceAfterSeconds === undefined || fenceToken === undefined) return undefined;
  const version = boundedText(annotations[VERSION_ANNOTATION], NAME_CHARACTERS_MAX) ?? 'unknown';
  const renewalsSeen = parseRenewalsSeen(annotations[RENEWALS_SEEN_ANNOTATION]);
  const fencedKinds = boundedText(annotations[FENCED_KINDS_ANNOTATION], KINDS_CHARACTERS_MAX)?.split(',') ?? [];
  return { controllerName, version, fenceAfterSeconds, fenceToken, fencedKinds, renewalsSeen };
}

/** Entries that cannot be read are left out. */
function parseRenewalsSeen(annotation: unknown): ReadonlyMap<string, RenewalSeen> {
  const entries = Object.entries(jsonObject(boundedText(annotation, RENEWALS_CHARACTERS_MAX))).slice(0, ORIGINS_MAX);
  return new Map(
    entries.flatMap(([origin, entry]): [string, RenewalSeen][] => {
      if (!isJsonObject(entry)) return [];
      const { renewTime, elapsedSeconds, fenceAfterSeconds } = entry;
      if (typeof renewTime !== 'string' || parseWireTime(renewTime) === undefined) return [];
      if (!isSeconds(elapsedSeconds)) return [];
      return [[origin, { renewTime, elapsedSeconds, fenceAfterSeconds: isSeconds(fenceAfterSeconds) ? fenceAfterSeconds : undefined }]];
    }),
  );
}

function jsonObject(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // Whoever wrote this was no worker: nothing is known of renewals.
    return {};
  }
}

/** Longer names, tokens and versions than these are nobody's. */
const NAME_CHARACTERS_MAX = 300;
/** Nobody has more managers; an object may have 256 KiB of annotations. */
const ORIGINS_MAX = 500;
const RENEWALS_CHARACTERS_MAX = 128 * 1024;
const KINDS_CHARACTERS_MAX = 16 * 1024;

const boundedText = (value: unknown, charactersMax: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= charactersMax ? value : undefined;

const isSeconds = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const wholeSeconds = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
