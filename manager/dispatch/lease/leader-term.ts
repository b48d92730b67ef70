import type { OriginHolder } from '../../../shared/api/fence-leases.ts';
import type { Random } from '../../../shared/runtime/random.ts';
import { openHomeVersion, sealHomeVersion } from '../../api/home-version.ts';
import type { RecordKeys } from '../../api/record-seal.ts';
import type { HomeHistory } from './home-history.ts';

/** One time that this program leads, on all clusters. */
export interface LeaderTerm {
  /** Who holds the Leases in this term; undefined while it is not known which cluster is home. */
  holder(): OriginHolder | undefined;
  /** Whether this term has held the Lease of the cluster with this UID. */
  hasHeld(clusterUid: string): boolean;
  held(clusterUid: string): void;
  /** What a cluster is to keep for us: how far the home cluster has come. */
  homeVersion(): string | undefined;
  /** What a cluster has kept of that; what no leader of our home has written tells nothing. */
  homeVersionTold(text: string | undefined): void;
  /** Whether a leader of our home has written this. */
  isHomeVersion(text: string | undefined): boolean;
}

export function createLeaderTerm(options: {
  /** Id of this manager. */
  readonly origin: string;
  readonly keys: RecordKeys;
  /** The UID of the namespace kube-system of the manager cluster; undefined while it is not known. */
  readonly homeUID: () => string | undefined;
  readonly homeHistory: Pick<HomeHistory, 'told' | 'toTell'>;
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
    homeVersion: () => sealHomeVersion(keys, home(), homeHistory.toTell()),
    homeVersionTold: (text) => homeHistory.told(openHomeVersion(keys, home(), text)),
    isHomeVersion: (text) => openHomeVersion(keys, home(), text) !== '',
  };
}

/** Four hexadecimal digits. */
const word = (random: Random): string =>
  Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0');
