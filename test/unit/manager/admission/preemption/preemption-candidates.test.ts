import { describe, expect, test } from 'vitest';
import { findCandidates } from '../../../../../manager/admission/preemption/preemption-candidates.ts';
import { aCohort, incoming, type Holding, type QueueOf, type Setting } from './preemption-world.ts';

const all: QueueOf['preemption'] = {
  withinClusterQueue: 'LowerPriority',
  reclaimWithinCohort: 'Any',
  borrowWithinCohort: { policy: 'LowerPriority', maxPriorityThreshold: 2 },
};
const job = (name: string, queue: string, priority: number, parts: Partial<Holding> = {}): Holding => ({
  name,
  queue,
  priority,
  requests: { cpu: '1' },
  ...parts,
});
/** `main` and `beside` share the quota of the cohort near, which is below root; `far` is of root. No queue has quota of its own. */
const tree = (admitted: readonly Holding[], near: string, preemption = all): Setting => ({
  queues: {
    main: { cohort: 'near', quota: { cpu: '0' }, preemption },
    beside: { cohort: 'near', quota: { cpu: '0' } },
    far: { cohort: 'root', quota: { cpu: '0' } },
  },
  cohorts: [aCohort('root'), aCohort('near', 'root', { cpu: near })],
  admitted,
});

function candidates(setting: Setting, cpu = '1', cluster?: string, helps: (name: string) => boolean = () => true) {
  const { preemptor, charges, world } = incoming(setting, { queue: 'main', priority: 5, requests: { cpu } });
  return findCandidates({
    preemptor,
    charges,
    contested: new Set(['default/cpu']),
    usage: world.usage,
    admitted: world.admitted,
    helps: ({ reservation }) => helps(reservation.workload.name),
    cluster,
  });
}
type Found = ReturnType<typeof candidates>;
const listed = ({ inOrder }: Found, mayBorrow = false): string[] =>
  [...inOrder(({ withoutBorrowing }) => !mayBorrow || !withoutBorrowing)].map(
    ({ admitted, eligibility: standing }) => `${admitted.reservation.workload.name} ${standing.rule}`,
  );

const ALL = [
  job('own', 'main', -9),
  job('own-leaving', 'main', 4, { leaving: true, cluster: 'west' }),
  job('beside', 'beside', 1),
  job('beside-high', 'beside', 3),
  job('beside-leaving', 'beside', 2, { leaving: true }),
  job('far', 'far', 8, { cluster: 'west' }),
  job('far-leaving', 'far', 9, { leaving: true }),
];

test('those that leave go first; in both halves those from farther away, those beside it, and its own', () => {
  expect(listed(candidates(tree(ALL, '6')))).toEqual([
    'far-leaving InCohortReclamation',
    'beside-leaving InCohortReclaimWhileBorrowing',
    'own-leaving InClusterQueue',
    'far InCohortReclamation',
    'beside InCohortReclaimWhileBorrowing',
    'beside-high InCohortReclamation',
    'own InClusterQueue',
  ]);
});

test('where it would borrow, those above the threshold are none, nor those over which it has no advantage', () => {
  expect(listed(candidates(tree(ALL, '6')), true)).not.toContain('beside-high InCohortReclamation');
  const crowded = candidates(tree(ALL, '5'));
  expect([crowded.fromFarther, crowded.fromOthers]).toEqual([false, true]);
  expect(listed(crowded, true)).toEqual([
    'beside-leaving InCohortReclaimWhileBorrowing',
    'own-leaving InClusterQueue',
    'beside InCohortReclaimWhileBorrowing',
    'own InClusterQueue',
  ]);
});

describe('are only', () => {
  test('those whose end helps', () => {
    expect(listed(candidates(tree(ALL, '6'), '1', undefined, (name) => name.startsWith('far')))).toEqual([
      'far-leaving InCohortReclamation',
      'far InCohortReclamation',
    ]);
  });
  test('those on one cluster, where one is named', () => {
    expect(listed(candidates(tree(ALL, '6'), '1', 'west'))).toEqual(['own-leaving InClusterQueue', 'far InCohortReclamation']);
  });
  test('its own, where the queue gets nothing back from others', () => {
    const found = candidates(tree(ALL, '6', { withinClusterQueue: 'LowerPriority' }));
    expect(listed(found)).toEqual(['own-leaving InClusterQueue', 'own InClusterQueue']);
    expect(found.fromOthers).toBe(false);
  });
  test('those of queues, and of cohorts, that use more than their quota', () => {
    const [far, beside] = [job('far', 'far', 0), job('beside', 'beside', 0)];
    const spared: Setting = { ...tree([far, beside], '1'), cohorts: [aCohort('root'), aCohort('near', 'root', { cpu: '1' })] };
    const within = { ...spared, queues: { ...spared.queues, far: { cohort: 'root', quota: { cpu: '1' } } } };
    expect(listed(candidates(spared))).toEqual(['beside InCohortReclaimWhileBorrowing', 'far InCohortReclaimWhileBorrowing']);
    expect(listed(candidates(within))).toEqual(['beside InCohortReclaimWhileBorrowing']);
  });
});

test('each is told with the queues and cohorts that must still exceed their quota when its turn comes', () => {
  const setting: Setting = {
    queues: { main: { cohort: 'near', quota: { cpu: '9' }, preemption: all }, away: { cohort: 'other', quota: { cpu: '0' } } },
    cohorts: [aCohort('near', 'root'), aCohort('other', 'root')],
    admitted: [job('away', 'away', 0)],
  };
  const [first] = candidates(setting).inOrder(() => true);
  expect(first?.borrowers.map(({ id }) => id)).toEqual(['Cohort/other', 'ClusterQueue/away']);
});
