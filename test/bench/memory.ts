/**
 * A manager on whose cluster very many Jobs wait: the memory it keeps. The API server is made up, and speaks HTTP: it answers with as many
 * Jobs as asked for, of any size, without keeping them. The manager is a process of its own, started as the image starts it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startCrowdedApi } from './memory/crowded-api.ts';
import { peakResidentBytesOf, residentBytesOf } from './process-figures.ts';
import { defineSuite } from './suite.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const MIB = 2 ** 20;
/** As in the image. */
const NODE_FLAGS = ['--max-semi-space-size=8'];

const FLAGS = {
  jobs: { value: 'N', fallback: '100000', about: 'how many wait', parse: wholeNumber(1) },
  'job-bytes': { value: 'BYTES', fallback: '10240', about: 'size of each as JSON', parse: wholeNumber(2_048) },
  'mib-max': { value: 'MIB', fallback: '1024', about: 'the most that the manager may keep', parse: wholeNumber(1) },
} satisfies FlagTable;

export const memorySuite = defineSuite(FLAGS, ({ jobs, 'job-bytes': jobBytes, 'mib-max': mibMax }) => async () => {
  const { listedMiB, toldMiB, peakMiB, listSeconds, toldSeconds } = await measureMemory(jobs, jobBytes);
  console.log(`${jobs} waiting Jobs of ${jobBytes} bytes, ${((jobs * jobBytes) / MIB).toFixed(0)} MiB of JSON`);
  console.log(`  resident when all are listed             ${listedMiB.toFixed(0)} MiB, after ${listSeconds.toFixed(1)} s`);
  console.log(`  resident when all know why they wait     ${toldMiB.toFixed(0)} MiB, after ${toldSeconds.toFixed(1)} s`);
  console.log(`  most at any time                         ${peakMiB.toFixed(0)} MiB (at most ${mibMax})`);
  return peakMiB <= mibMax;
});

type Figures = Readonly<Record<'listedMiB' | 'listSeconds' | 'toldMiB' | 'toldSeconds' | 'peakMiB', number>>;

async function measureMemory(jobs: number, jobBytes: number): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const api = await startCrowdedApi({ jobs, jobBytes });
  resources.defer(() => api.close());
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  resources.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const kubeconfig = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor({ url: api.url }, 'a-token'));
  const startedMs = performance.now();
  const seconds = (): number => (performance.now() - startedMs) / 1000;
  const flags = [`--kubeconfig=${kubeconfig}`, '--manager-id=bench', '--kube-api-qps=0'];
  const manager = resources.use(
    new ChildProgram('the manager', [process.execPath, ...NODE_FLAGS, path.join(ROOT, 'manager', 'main.ts'), ...flags]),
  );
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await condition())) {
      if (manager.hasEnded()) await manager.failsWhenEnded();
      await sleep(systemClock, 100);
    }
  };
  const url = await manager.find((line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
  await until(async () => (await fetch(`${url}/readyz`)).ok);
  const listed = { listedMiB: residentBytesOf(manager.pid) / MIB, listSeconds: seconds() };
  await until(() => api.told() === jobs);
  const toldSeconds = seconds();
  // What the last of them have left behind is collected.
  await sleep(systemClock, 2_000);
  return { ...listed, toldSeconds, toldMiB: residentBytesOf(manager.pid) / MIB, peakMiB: peakResidentBytesOf(manager.pid) / MIB };
}
