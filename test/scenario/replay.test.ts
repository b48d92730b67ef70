/**
 * Goal: what a manager wrote down is enough to decide it again. Days are generated, played through the real admission on an embedded
 * control plane, and replayed from what it logged.
 */
import { describe, expect, test } from 'vitest';
import { readDecisionLog } from '../../manager/insight/replay/decision-log-reader.ts';
import { historyOf, type History } from '../../manager/insight/replay/logged-history.ts';
import { loggedOutcome } from '../../manager/insight/replay/logged-outcome.ts';
import { replay } from '../../manager/insight/replay/replay.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { PRIORITY_CLASS_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createAdmissionWorld, hasCondition, type AdmissionWorld } from './admission-world.ts';
import { memoryLineSink, type MemoryLineSink } from '../support/memory-line-sink.ts';
import { isSlow } from '../support/slow.ts';

const FAIR = { preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] } as const;
const within = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' };

type Day = {
  readonly name: string;
  readonly seed: number;
  readonly options?: Parameters<typeof createAdmissionWorld>[0];
  readonly setUp: (world: AdmissionWorld) => Promise<void>;
};

async function play(
  { seed, options, setUp }: Day,
  sink: MemoryLineSink = memoryLineSink(),
  atMoment?: (moment: number, world: AdmissionWorld) => Promise<void>,
): Promise<History> {
  const world = await createAdmissionWorld({ ...options, decisionLog: sink });
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const endsAt = new Map<string, number>();
  try {
    for (const [name, value] of [
      ['high', 100],
      ['low', -100],
    ] as const)
      await world.client.create(WORKLOAD_PRIORITY_CLASSES, { metadata: { name }, value });
    await world.flavor('default');
    await world.flavor('spot');
    await setUp(world);
    await world.settle(1_000);
    let jobs = 0;
    for (let moment = 0; moment < 40; moment++) {
      await atMoment?.(moment, world);
      for (let arrivals = below(4); arrivals > 0 && jobs < 45; arrivals--) {
        const priority = below(3) === 0 ? { [PRIORITY_CLASS_LABEL]: below(2) === 0 ? 'high' : 'low' } : {};
        await world.job(`job-${jobs++}`, { queue: below(2) === 0 ? 'main' : 'other', cpu: String(1 + below(3)), labels: priority });
      }
      await world.settle(700 + below(2_000));
      for (const job of (await world.client.list(JOBS)).items) {
        const { name } = job.metadata;
        const record = writtenRecordOf(job);
        if (record.kind !== 'Record' || hasCondition(job, 'Complete')) continue;
        if (job.spec.suspend === true) {
          if (record.record.evicted === true && !hasCondition(job, 'Suspended') && below(2) === 0) await world.rest(name);
          else if (
            record.record.evicted === true &&
            hasCondition(job, 'Suspended') &&
            record.record.preempted !== undefined &&
            below(3) === 0
          )
            await world.rest(name);
          continue;
        }
        const due = endsAt.get(`${name} ${record.record.since}`) ?? moment + 1 + below(8);
        endsAt.set(`${name} ${record.record.since}`, due);
        if (moment >= due) await world.finish(name);
        else if (below(60) === 0) await world.remove(name);
      }
      await world.settle(300);
    }
    await world.settle(5_000);
  } finally {
    await world.close();
  }
  return historyOf(readDecisionLog(sink.files.map((text, index) => ({ name: `log.${index}`, text }))).lines);
}

const twoQueues =
  (spec: object): Day['setUp'] =>
  async (world) => {
    await world.queue('main', { cpu: '4', spec: { cohortName: 'all', ...spec } });
    await world.queue('other', { cpu: '4', flavors: ['default', 'spot'], spec: { cohortName: 'all', ...spec } });
    await world.cluster('eu', { capacity: { cpu: '8' } });
    await world.cluster('us', { capacity: { cpu: '6' } });
  };

/** With SWITCHYARD_SLOW=1 others, too. */
const SEEDS = isSlow ? [1, 2, 3] : [1];
const days: readonly Day[] = SEEDS.flatMap((seed) => [
  { name: `a day ${seed} of queues that borrow`, seed, setUp: twoQueues({}) },
  { name: `a day ${seed} of StrictFIFO queues`, seed, setUp: twoQueues({ queueingStrategy: 'StrictFIFO' }) },
  { name: `a day ${seed} of preemption`, seed, setUp: twoQueues({ preemption: within }) },
  { name: `a day ${seed} of fair sharing`, seed, options: { fairSharing: FAIR }, setUp: twoQueues({ preemption: within }) },
]);

describe('replaying a day under the policy that it had', () => {
  test.each(days)('decides $name as it was decided, cycle by cycle', { timeout: 300_000 }, async (day) => {
    const history = await play(day);
    const logged = loggedOutcome(history);
    const again = replay(history);
    expect(logged.admissions.length).toBeGreaterThan(20);
    expect(again.cycles).toEqual(logged.cycles);
    expect(again.admissions).toEqual(logged.admissions);
    expect(again.preemptions).toEqual(logged.preemptions);
    expect(again.guessed).toBe(0);
  });
});
