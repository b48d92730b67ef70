import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createProgramMetrics } from '../../../../shared/runtime/program-metrics.ts';

test('a program tells its version, whether it leads, how often it has begun to, and what its checks find', async () => {
  const registry = new Registry();
  let problem: string | undefined = 'not yet';
  const program = createProgramMetrics(registry, {
    version: '1.2.3',
    nodeVersion: 'v24.0.0',
    checks: { caches: () => problem, clock: () => undefined },
  });
  const told = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(await told()).toEqual([
    'switchyard_build_info{version="1.2.3",node_version="v24.0.0"} 1',
    'switchyard_leader 0',
    'switchyard_leader_transitions_total 0',
    'switchyard_check_ok{check="caches"} 0',
    'switchyard_check_ok{check="clock"} 1',
  ]);
  problem = undefined;
  program.leads(true);
  program.leads(true);
  expect(await told()).toEqual(
    expect.arrayContaining(['switchyard_leader 1', 'switchyard_leader_transitions_total 1', 'switchyard_check_ok{check="caches"} 1']),
  );
  program.leads(false);
  program.leads(true);
  expect(await told()).toContain('switchyard_leader_transitions_total 2');
});
