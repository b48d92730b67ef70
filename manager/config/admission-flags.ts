import { durationMs, FlagError, oneOf, type FlagTable, type FlagValues, wordsOf } from '../../shared/runtime/flags.ts';
import { durationShape, shaped, type ValueShape } from '../../shared/runtime/value-shape.ts';
import { FairStrategy, type FairSharingConfig } from '../admission/fair-sharing/fair-strategy.ts';
import type { UsagePolicy } from '../admission/fair-sharing/local-queue-usage.ts';
import type { PlacementPolicy } from '../api/cluster-queue.ts';

/** What flags of the manager say about who goes first and who is preempted. */
export type AdmissionFlags = {
  /** How ClusterQueues share what their cohorts lend; undefined: by priority and age. */
  readonly fairSharing: FairSharingConfig | undefined;
  /** How usage orders the LocalQueues of ClusterQueues that ask for it; undefined: it does not. */
  readonly admissionFairSharing: UsagePolicy | undefined;
  /** How Jobs are placed in ClusterQueues that do not say it. */
  readonly defaultPlacement: PlacementPolicy;
};

const PLACEMENT_POLICIES = ['LeastRoom', 'MostRoom'] as const satisfies readonly PlacementPolicy[];
const FAIR_STRATEGIES = Object.values(FairStrategy);
/** A number, or its text: YAML has several ways to write a small one. */
const WEIGHT: ValueShape = {
  anyOf: [
    { type: 'number', minimum: 0, maximum: 1e20 },
    { type: 'string', pattern: '^([0-9]+([.][0-9]*)?|[.][0-9]+)(e-?[0-9]{1,2})?$' },
  ],
};

/** The flags of the manager, and of the commands that decide as it does: nobody tells them which it has. */
export const ADMISSION_FLAGS = {
  'fair-sharing': {
    about: 'idle quota of a cohort goes to the ClusterQueue or Cohort that borrows least for its weight, instead of by priority and age',
  },
  'fair-sharing-preemption-strategies': {
    value: 'STRATEGY,...',
    fallback: Object.values(FairStrategy).join(),
    about: `when a Job may be preempted to share fairly: ${Object.values(FairStrategy).join(', ')}, or both in this order`,
    parse: shaped({ enum: [FAIR_STRATEGIES.slice(0, 1), FAIR_STRATEGIES.slice(1), FAIR_STRATEGIES] }, fairStrategies),
  },
  'default-placement': {
    value: 'POLICY',
    fallback: 'LeastRoom',
    about:
      'which cluster with room a Job goes to where its ClusterQueue has no placement: LeastRoom fills one cluster after the other, MostRoom spreads Jobs',
    parse: oneOf(PLACEMENT_POLICIES),
  },
  'admission-fair-sharing-half-life': {
    value: 'DURATION',
    about:
      'Jobs of LocalQueues that have used less go first, where their ClusterQueue asks for it; what was used this long ago counts half. Default: usage plays no part',
    parse: shaped(durationShape(1), halfLife),
  },
  'admission-fair-sharing-sampling-interval': {
    value: 'DURATION',
    fallback: '5m',
    about: 'how often usage is written to the status of LocalQueues; an admission costs at once what it will use in this time',
    parse: shaped(durationShape(1_000), samplingInterval),
  },
  'admission-fair-sharing-resource-weights': {
    value: 'RESOURCE=WEIGHT,...',
    fallback: '',
    about: 'what a core, a byte or a device counts in usage, such as cpu=1,memory=0.0000000001; 1 for each that is not named',
    parse: shaped({ type: 'object', additionalProperties: WEIGHT }, resourceWeights),
  },
} satisfies FlagTable;

export function admissionFlagsOf(flags: FlagValues<typeof ADMISSION_FLAGS>): AdmissionFlags {
  const halfLifeMs = flags['admission-fair-sharing-half-life'];
  return {
    defaultPlacement: flags['default-placement'],
    fairSharing: flags['fair-sharing'] ? { preemptionStrategies: flags['fair-sharing-preemption-strategies'] } : undefined,
    admissionFairSharing:
      halfLifeMs === undefined
        ? undefined
        : {
            halfLifeMs,
            samplingIntervalMs: flags['admission-fair-sharing-sampling-interval'],
            resourceWeights: flags['admission-fair-sharing-resource-weights'],
          },
  };
}

function fairStrategies(given: string): readonly FairStrategy[] {
  const known = Object.values(FairStrategy);
  const strategies = known.filter((strategy) => given.split(',').includes(strategy));
  if (strategies.length > 0 && strategies.join() === given) return strategies;
  throw new FlagError(`${JSON.stringify(given)} names no strategies; write ${known.join(' or ')}, or both in this order with a comma`);
}

function halfLife(given: string): number {
  const halfLifeMs = durationMs(given);
  if (halfLifeMs > 0) return halfLifeMs;
  throw new FlagError(`${JSON.stringify(given)} would forget all usage at once; write one such as 168h, or leave the flag out`);
}

function samplingInterval(given: string): number {
  const intervalMs = durationMs(given);
  if (intervalMs >= 1_000) return intervalMs;
  throw new FlagError(`${JSON.stringify(given)} is less than a second; write more, such as 5m`);
}

function resourceWeights(given: string): ReadonlyMap<string, number> {
  const parts = wordsOf(given);
  return new Map(
    parts.map((part) => {
      const [, resource = '', weight = ''] = /^([^=]+)=([0-9.]+(?:e-?[0-9]+)?)$/.exec(part) ?? [];
      if (resource !== '' && Number.isFinite(Number(weight))) return [resource, Number(weight)];
      throw new FlagError(`${JSON.stringify(part)} is no weight of a resource; write one such as cpu=1 or memory=1e-10`);
    }),
  );
}
