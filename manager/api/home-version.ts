import { createHmac, timingSafeEqual } from 'node:crypto';
import { formatHomeVersion, parseHomeVersion } from '../../shared/api/fence-leases.ts';
import { isOlder, isResourceVersion } from '../../shared/kube/resource-version.ts';
import type { RecordKeys } from './record-seal.ts';

/** Whose versions they are: those of one manager's home cluster. */
export type HomeOfVersions = { readonly origin: string; readonly homeUid: string };

/** The text by which a worker cluster keeps for us how far our own cluster has come; undefined for a version that compares with nothing. */
export function sealHomeVersion(keys: RecordKeys, home: HomeOfVersions, resourceVersion: string): string | undefined {
  if (!isResourceVersion(resourceVersion)) return undefined;
  return formatHomeVersion({ resourceVersion, seal: digest(keys.current, home, resourceVersion).toString('base64url') });
}

/** The version that one of the keys has sealed for this home; '' for everything else: a worker cluster may have written it. */
export function openHomeVersion(keys: RecordKeys, home: HomeOfVersions, text: string | undefined): string {
  const parsed = parseHomeVersion(text);
  if (parsed === undefined) return '';
  const given = Buffer.from(parsed.seal, 'base64url');
  const isOurs = [keys.current, ...keys.others].some((key) => {
    const wanted = digest(key, home, parsed.resourceVersion);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  return isOurs ? parsed.resourceVersion : '';
}

/** The later of two versions; one that compares with nothing is earlier than any. */
export const laterVersion = (one: string, other: string): string => (!isResourceVersion(one) || isOlder(one, other) ? other : one);

/**
 * Whether our cluster has forgotten what it once said: it has been restored from an older backup. `now` must come from a consistent read of it
 * (a list without a resourceVersion): a cache may lag behind what an earlier leader has seen.
 */
export const homeWasRestored = (seen: readonly string[], now: string): boolean => seen.some((version) => isOlder(now, version));

/** Texts in a JSON list cannot run into one another, nor into those of other seals, which begin with another word. */
const digest = (key: Uint8Array, { origin, homeUid }: HomeOfVersions, resourceVersion: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['switchyard.dev/home-version', origin, homeUid, resourceVersion]))
    .digest();
