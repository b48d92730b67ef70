import { beforeEach, expect, test } from 'vitest';
import { createExplanations, type Explanations } from '../../../../manager/dashboard/explanations.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob } from '../../../support/jobs.ts';

let clock: FakeClock;
let asked: string[];
let explanations: Explanations;
let openJobs: number;
const seeing = (namespace: string): Rights => ({ namespaces: new Set([namespace]), queues: 'All', clusters: 'All' });
const job = (namespace: string, name: string): Job => aHomeJob({ metadata: { namespace, name, uid: name, resourceVersion: '1' } });

beforeEach(() => {
  [asked, openJobs, clock] = [[], 1, new FakeClock()];
  const took = async (what: string): Promise<void> => {
    asked.push(what);
    await new Promise<void>((resolve) => void clock.schedule(resolve, 1_000));
  };
  explanations = createExplanations({
    explain: async ({ metadata: { name } }) => {
      await took(name);
      if (name === 'broken') throw new Error('it broke');
      return { told: name };
    },
    order: async (queue) => {
      await took(queue);
      return { kind: 'NoOrder', problem: 'nothing waits' };
    },
    whatIf: async ({ queue, edits }) => {
      await took(`${queue?.metadata.name}, ${edits.length} edits`);
      return { kind: 'NoWhatIf', problem: 'nothing is known' };
    },
    openJobs: () => openJobs,
    clock,
    log: silentLogger,
  });
});

test('whoever asks much waits behind himself, and is refused before long; another has the next turn', async () => {
  const many = Array.from({ length: 40 }, (_, index) => explanations.of(job('noisy', `n${index}`), seeing('noisy'), 'noisy'));
  const other = explanations.of(job('quiet', 'q'), seeing('quiet'), 'quiet');
  await clock.advance(5_000);
  expect(asked).toEqual(['n0', 'q', 'n1']);
  expect(await other).toEqual({ told: 'q' });
  await clock.advance(100_000);
  const answers = await Promise.all(many);
  expect(answers.filter((answer) => 'told' in answer)).toHaveLength(16);
  expect(answers.at(-1)).toMatchObject({ kind: 'Unexplained', message: expect.stringContaining('try again') });
});

test('what is asked already is not asked again, however long it takes, and told again for a moment', async () => {
  const before = explanations.of(job('team', 'first'), seeing('team'), 'team');
  const one = explanations.of(job('team', 'x'), seeing('team'), 'team');
  await clock.advance(2_500);
  const same = explanations.of(job('team', 'x'), seeing('team'), 'team');
  await clock.advance(2_000);
  expect(await Promise.all([before, one, same])).toEqual([{ told: 'first' }, { told: 'x' }, { told: 'x' }]);
  expect(await explanations.of(job('team', 'x'), seeing('team'), 'team')).toEqual({ told: 'x' });
  await clock.advance(10_000);
  void explanations.of(job('team', 'x'), seeing('team'), 'team');
  await clock.advance(2_000);
  expect(asked).toEqual(['first', 'x', 'x']);
});

test('after each there is a rest as long as it took, and one that fails says so and holds up nobody', async () => {
  const [broken, order] = [explanations.of(job('team', 'broken'), seeing('team'), 'team'), explanations.orderOf('main', 'team')];
  await clock.advance(1_500);
  expect(await broken).toMatchObject({ kind: 'Unexplained' });
  expect(asked).toEqual(['broken']);
  await clock.advance(1_500);
  expect(await order).toMatchObject({ kind: 'NoOrder', problem: 'nothing waits' });
});

test('with very many Jobs nobody is looked at', async () => {
  openJobs = 20_001;
  expect(await explanations.of(job('team', 'x'), seeing('team'), 'team')).toMatchObject({ kind: 'Unexplained' });
  expect(asked).toEqual([]);
});
