/**
 * A seeded story of a hostile tenant beside an honest team: he writes Jobs and updates as the dice fall, straight to the API server. After
 * each step, whatever he has said, his pods hold no more than his quota, and none of them runs outside his namespace.
 */
import type { ClusterQueueSpec } from '../../../manager/api/cluster-queue.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { createDice } from '../dice.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { startCrew } from './crew.ts';
import type { Outcome } from '../simulation.ts';
import { ANY_WAYS, createHostileTenant, SHRINKING_WAYS, type TenantWays } from './hostile-tenant.ts';
import { namespacesKept, quotaKept } from './promises.ts';
import { createYard, type Team } from './yard.ts';
import { createYardHistory } from './yard-history.ts';

export type FuzzOutcome = Outcome & {
  /** Manifests and updates that the tenant has sent, and those of them that the server took. */
  readonly sent: number;
  readonly taken: number;
};

export type TenantStory = {
  /** Absent: whatever may help. */
  readonly ways?: TenantWays;
  /** What the ClusterQueues say beside quota. */
  readonly queues?: Partial<ClusterQueueSpec>;
};

/** He runs Jobs that give quota back before they end, and wants more pods again. */
export const SHRINKING_STORY: TenantStory = { ways: SHRINKING_WAYS, queues: { reclaimablePods: 'Reclaim' } };

const TENANT: Team = { namespace: 'tenant', quota: { cpu: '4', memory: '6Gi', pods: '5' } };
const NEIGHBOUR: Team = { namespace: 'neighbour', quota: { cpu: '4', memory: '6Gi', pods: '5' } };

export async function fuzzTenant(
  seed: number,
  writes: number,
  print?: (line: string) => void,
  { ways = ANY_WAYS, queues }: TenantStory = {},
): Promise<FuzzOutcome> {
  const clock = new FakeClock();
  const startMs = clock.now();
  const trace = print === undefined ? () => undefined : (line: string) => print(`${((clock.now() - startMs) / 1000).toFixed(3)} ${line}`);
  const dice = createDice(seed);
  const yard = await createYard({
    workers: ['east', 'west'],
    teams: [TENANT, NEIGHBOUR],
    ...omitUndefined({ queues }),
    seed,
    clock,
    dice,
    trace,
  });
  const crew = startCrew({ yard, clock, dice, trace, managers: 1 });
  const tenant = await createHostileTenant({ yard, namespace: TENANT.namespace, clock, dice, trace, ways });
  const history = createYardHistory();
  const violations: string[] = [];
  const pods = new Set<string>();
  const ended = new Set<string>();

  function look(): void {
    for (const { name, history: changes } of yard.workers) for (const change of changes.next()) history.observe(name, change);
    for (const change of yard.home.history.next())
      if (change.kind === 'Job' && isOver(change.object)) ended.add(change.object.metadata.uid);
    const held = history.held();
    for (const { pod } of held) pods.add(pod.metadata.uid);
    violations.push(...quotaKept(held, yard.teams), ...namespacesKept(held, [TENANT.namespace]), ...crew.defects.splice(0));
  }

  await clock.advance(5000);
  while (tenant.sent() < writes && violations.length === 0) {
    await tenant.act();
    if (dice.chance(0.02)) crew.kill();
    await clock.advance(dice.chance(0.1) ? dice.int(3000, 30_000) : dice.int(0, 500));
    look();
    for (const worker of yard.workers) await worker.kubelet.run([...worker.history.pods.values()], 0.2, 0.1);
  }
  yard.stop();
  crew.stop();
  await clock.advance(0);
  await yard.close();
  const sent = tenant.sent();
  return {
    seed,
    violations,
    sent,
    taken: tenant.taken(),
    steps: sent,
    simulatedMs: clock.monotonic(),
    jobsFinished: ended.size,
    podsEnded: pods.size,
    calls: [yard.home, ...yard.workers].reduce((total, { network }) => total + network.calls(), 0),
    incarnations: crew.incarnations(),
    faults: new Map(),
  };
}
