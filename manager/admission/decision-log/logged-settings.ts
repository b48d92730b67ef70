import type { PlacementPolicy } from '../../api/cluster-queue.ts';
import type { LoggedSettings } from './decision-log.ts';
import { FairStrategy, type FairSharingConfig } from '../fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from '../fair-sharing/local-queue-usage.ts';

type Settings = {
  readonly fairSharing?: FairSharingConfig | undefined;
  readonly admissionFairSharing?: UsagePolicy | undefined;
  readonly defaultPlacement?: PlacementPolicy | undefined;
};

/** The manager's flags as logged. */
export function settingsOf({ fairSharing, admissionFairSharing, defaultPlacement }: Settings): LoggedSettings {
  return {
    defaultPlacement: defaultPlacement ?? 'LeastRoom',
    ...(fairSharing === undefined ? {} : { fairSharing: fairSharing.preemptionStrategies }),
    ...(admissionFairSharing === undefined
      ? {}
      : { admissionFairSharing: { ...admissionFairSharing, resourceWeights: Object.fromEntries(admissionFairSharing.resourceWeights) } }),
  };
}

/** The flags that a log contains. */
export function settingsFrom({ fairSharing, admissionFairSharing, defaultPlacement }: LoggedSettings): Settings {
  return {
    defaultPlacement: defaultPlacement ?? 'MostRoom',
    fairSharing: fairSharing && { preemptionStrategies: Object.values(FairStrategy).filter((each) => fairSharing.includes(each)) },
    admissionFairSharing: admissionFairSharing && {
      ...admissionFairSharing,
      resourceWeights: new Map(Object.entries(admissionFairSharing.resourceWeights)),
    },
  };
}
