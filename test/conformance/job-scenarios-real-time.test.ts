/**
 * The recorded Job scenarios once more, in real time and over HTTPS, with the worker as the program that users run. Takes
 * about a minute: runs with SWITCHYARD_SLOW=1 on the embedded control plane, with KUBEBUILDER_ASSETS on the real one.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { ChildProgram } from '../support/child-program.ts';
import { isServerReal, type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { loadScenarios, type Outcome, type Scenario } from './support/scenario.ts';
import { playScenario } from './support/scenario-player.ts';
import { isSlow } from '../support/slow.ts';

/** They spend their time waiting: this many at once leave even two cores idle enough to be quiet when they should. */
const AT_ONCE = 12;
const SUITE_LIMIT_MS = 300_000;
const WORKER = path.join(import.meta.dirname, '..', '..', 'worker', 'main.ts');

describe.runIf(isServerReal() || isSlow)('in real time', { timeout: SUITE_LIMIT_MS }, () => {
  const scenarios = loadScenarios();
  let server: ServerUnderTest;
  let worker: ChildProgram;
  let outcomes: ReadonlyMap<string, Promise<Outcome>>;

  beforeAll(async () => {
    server = await startServerUnderTest({ whoseControllers: 'ours' });
    worker = startWorker(server.kubeconfigFile);
    await worker.find((line) => (line.includes('caches are filled') ? line : undefined));
    outcomes = playAll(server, scenarios);
  }, SUITE_LIMIT_MS);

  afterAll(async () => {
    await worker?.stop();
    await server?.close();
  }, SUITE_LIMIT_MS);

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (name, scenario) => {
    expect(await outcomes.get(name)).toEqual(scenario.expect);
    expect(worker.hasEnded()).toBe(false);
  });
});

const startWorker = (kubeconfigFile: string): ChildProgram =>
  new ChildProgram('worker', [
    process.execPath,
    WORKER,
    `--kubeconfig=${kubeconfigFile}`,
    `--controller-name=${BUILT_IN_JOB_CONTROLLER_NAME}`,
    '--controllers=job,ttl-after-finished',
    '--kube-api-qps=0',
    '--metrics-bind-address=0',
  ]);

/** Starts them in order, so many at once; each outcome is there when it is. */
function playAll({ client }: ServerUnderTest, scenarios: readonly Scenario[]): ReadonlyMap<string, Promise<Outcome>> {
  const stage = { client, now: () => Date.now(), pass: (ms: number) => sleep(ms) };
  const outcomes = scenarios.map(({ name }) => [name, Promise.withResolvers<Outcome>()] as const);
  const waiting = scenarios.values();
  const lane = async (): Promise<void> => {
    for (const scenario of waiting) {
      const outcome = playScenario(stage, scenario, { namespace: `sc-${scenario.name}`, quietMs: 3000, settleLimitMs: 30_000 });
      new Map(outcomes).get(scenario.name)?.resolve(outcome);
      await outcome;
    }
  };
  for (let started = 0; started < AT_ONCE; started++) void lane();
  return new Map(outcomes.map(([name, { promise }]) => [name, promise]));
}
