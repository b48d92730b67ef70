import { expect, onTestFinished, test } from 'vitest';
import { createSimulationClient } from '../../../../../manager/insight/questions/simulation-client.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aCondition } from '../../../../support/jobs.ts';
import { aJobOf, theWorld } from '../../world-of-jobs.ts';

test('of 2,001 Jobs that have finished the last 2,000 are known to the thread, beside all that wait', async () => {
  const finished = Array.from({ length: 2_001 }, (_, number) => ({
    ...aJobOf(`over-${number}`, number),
    status: { conditions: [aCondition('Complete')] },
  }));
  const objects = () => theWorld([aJobOf('waits', 0), ...finished]);
  const world = createSimulationClient({ kind: JOB_KIND, objects, flags: {}, clock: new FakeClock(), log: silentLogger });
  onTestFinished(() => world.close());
  const explained = async (name: string): Promise<string> => {
    const result = await world.ask({ kind: 'Explain', uid: `uid-${name}` });
    return result.kind === 'Explained' ? result.explanation.kind : result.kind;
  };
  expect(await explained('waits')).toBe('Waiting');
  expect(await explained('over-2000')).toBe('Finished');
  expect(await explained('over-1')).toBe('Finished');
  expect(await explained('over-0')).toBe('Nothing');
});
