import { createHmac, timingSafeEqual } from 'node:crypto';
import { formatHomeVersion, parseHomeVersion } from '../../shared/api/fence-leases.ts';
import { isOlder, isResourceVersion } from '../../shared/kube/resource-version.ts';
import type { RecordKey, RecordKeys } from './record-seal.ts';

/** The manager and the home cluster whose resourceVersions are sealed. */
export type HomeOfVersions = { readonly origin: string; readonly homeUid: string };

/**
 * The text in which a worker cluster stores the resourceVersion of the manager cluster; undefined for a version that cannot be compared.
 */
export function sealHomeVersion(keys: RecordKeys, home: HomeOfVersions, resourceVersion: string): string | undefined {
  if (!isResourceVersion(resourceVersion)) return undefined;
  return formatHomeVersion({ resourceVersion, seal: digest(keys.current, home, resourceVersion).toString('base64url') });
}

/** The version that one of the keys has sealed for this home; '' for everything else, as a worker cluster may return any text. */
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

/** The later of two versions; a version that cannot be compared is earlier than any. */
export const laterVersion = (one: string, other: string): string => (!isResourceVersion(one) || isOlder(one, other) ? other : one);

/**
 * Whether the manager cluster is older than a version that it once had, as after a restore from an older backup. `now` must come from a
 * consistent read (a list without a resourceVersion): a cache may lag behind what an earlier leader has seen.
 */
export const homeWasRestored = (seen: readonly string[], now: string): boolean => seen.some((version) => isOlder(now, version));

/** The JSON list keeps its texts apart, also from those of other seals, which begin with another word. */
const digest = (key: RecordKey, { origin, homeUid }: HomeOfVersions, resourceVersion: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['switchyard.dev/home-version', origin, homeUid, resourceVersion]))
    .digest();
