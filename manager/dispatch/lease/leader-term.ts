import type { OriginHolder } from '../../../shared/api/fence-leases.ts';
import type { Random } from '../../../shared/runtime/random.ts';
import { openHomeVersion, sealHomeVersion } from '../../api/home-version.ts';
import type { RecordKeys } from '../../api/record-seal.ts';
import type { HomeHistory } from './home-history.ts';

/** One term of leadership of this process, for all worker clusters. */
export interface LeaderTerm {
  /** The holder identity of the Leases of this term; undefined while the UID of the manager cluster is unknown. */
  holder(): OriginHolder | undefined;
  /** Whether this term has held the Lease of the cluster with this UID. */
  hasHeld(clusterUid: string): boolean;
  held(clusterUid: string): void;
  /** The resourceVersion of the manager cluster that worker clusters store, sealed. */
  homeVersion(): string | undefined;
  /** Takes the version that a worker cluster has stored; a version that no leader of this manager cluster sealed is ignored. */
  takeHomeVersion(text: string | undefined): void;
  /** Whether a leader of this manager cluster has sealed this version. */
  isHomeVersion(text: string | undefined): boolean;
}

export function createLeaderTerm(options: {
  /** Id of this manager. */
  readonly origin: string;
  readonly keys: RecordKeys;
  /** The UID of the namespace kube-system of the manager cluster; undefined while it is not known. */
  readonly homeUID: () => string | undefined;
  readonly homeHistory: Pick<HomeHistory, 'takeStoredVersion' | 'versionToStore'>;
  readonly random: Random;
}): LeaderTerm {
  const { origin, keys, homeUID, homeHistory, random } = options;
  const instance = Array.from({ length: 4 }, () => word(random)).join('');
  const heldUids = new Set<string>();
  const home = (): { origin: string; homeUid: string } => ({ origin, homeUid: homeUID() ?? '' });
  return {
    holder() {
      const homeUid = homeUID();
      return homeUid === undefined ? undefined : { homeUid, instance };
    },
    hasHeld: (uid) => heldUids.has(uid),
    held: (uid) => void heldUids.add(uid),
    homeVersion: () => sealHomeVersion(keys, home(), homeHistory.versionToStore()),
    takeHomeVersion: (text) => homeHistory.takeStoredVersion(openHomeVersion(keys, home(), text)),
    isHomeVersion: (text) => openHomeVersion(keys, home(), text) !== '',
  };
}

/** Four hexadecimal digits. */
const word = (random: Random): string =>
  Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0');
