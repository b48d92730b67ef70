/** The embedded control plane over the network: small writes, what watchers cost, lists of many objects, and memory. */
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { FlagError, listOf, text, wholeNumber, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { type BenchServer, MERGE, startServer, STRATEGIC } from './control-plane/server.ts';
import { defineSuite } from './suite.ts';

const WAYS = ['tls', 'plain', 'durable'] as const;

const FLAGS = {
  writes: { value: 'N', fallback: '5000', about: 'writes of each kind', parse: wholeNumber(1) },
  watchers: { value: 'N', fallback: '50', about: 'watchers that see every change', parse: wholeNumber(1) },
  objects: { value: 'N', fallback: '50000', about: 'pods in the lists', parse: wholeNumber(1) },
  connections: { value: 'N', fallback: '16', about: 'requests in flight', parse: wholeNumber(1) },
  ways: { value: 'LIST', fallback: WAYS.join(','), about: 'some of tls, plain, durable (plain with a data directory)', parse: ways },
  'cpu-profile': { value: 'DIR', about: 'let the servers write CPU profiles there at their end', parse: text },
} satisfies FlagTable;

/** What the control plane is for: below this many writes a second it would be what tests wait for. */
const WRITES_PER_SECOND_MIN = 2000;

type Load = { readonly writes: number; readonly watchers: number; readonly objects: number; readonly connections: number };

export const controlPlaneSuite = defineSuite(FLAGS, (flags) => () => measureWays(flags));

async function measureWays(flags: FlagValues<typeof FLAGS>): Promise<boolean> {
  console.log(`${'way'.padEnd(9)}${'what'.padEnd(44)}${'a second'.padStart(10)}${'server CPU us each'.padStart(20)}`);
  let good = true;
  for (const way of flags.ways) {
    const server = await startServer({
      plain: way !== 'tls',
      durable: way === 'durable',
      connections: flags.connections,
      profileDirectory: flags['cpu-profile'],
    });
    try {
      good = (await measureAll(way, server, flags)) && good;
    } finally {
      await server.stop();
    }
  }
  return good;
}

function ways(given: string): readonly (typeof WAYS)[number][] {
  const chosen = listOf(WAYS)(given);
  if (chosen.length === 0) throw new FlagError(`names no way; choose from ${WAYS.join(', ')}`);
  return chosen;
}

const CORE = '/api/v1/namespaces/default';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const POD_SPEC = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'true'] }] };
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } });
const job = (name: string): object => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template: { spec: POD_SPEC } } });
const pod = (name: string, labels: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: POD_SPEC,
});

async function measureAll(way: string, server: BenchServer, load: Load): Promise<boolean> {
  const measure = meter(way, server, load.connections);
  const writes = (what: string, write: (index: number) => Promise<unknown>): Promise<number> => measure(what, load.writes, write);
  // The first requests run code that is not optimized yet.
  await writes('(warm-up)', (index) => server.call('POST', `${CORE}/configmaps`, configMap(`w-${index}`)));
  const rates = [
    await writes('create ConfigMap', (index) => server.call('POST', `${CORE}/configmaps`, configMap(`c-${index}`))),
    await writes('create Pod', (index) => server.call('POST', `${CORE}/pods`, pod(`p-${index}`, { app: 'x' }))),
    await writes('create Job', (index) => server.call('POST', JOBS, job(`j-${index}`))),
    await writes('merge patch of Job status', (index) =>
      server.call('PATCH', `${JOBS}/j-${index}/status`, { status: { active: 1 } }, MERGE),
    ),
    await writes('put of Pod status', (index) => {
      const status = { phase: 'Running', qosClass: 'BestEffort', startTime: '2026-01-01T00:00:00Z' };
      return server.call('PUT', `${CORE}/pods/p-${index}/status`, { ...pod(`p-${index}`, { app: 'x' }), status });
    }),
    await writes('strategic merge patch of Pod labels', (index) =>
      server.call('PATCH', `${CORE}/pods/p-${index}`, { metadata: { labels: { z: 'y' } } }, STRATEGIC),
    ),
  ];
  await writes('get Pod', (index) => server.call('GET', `${CORE}/pods/p-${index}`));
  await fanOut(server, load, writes);
  await writes('delete ConfigMap', (index) => server.call('DELETE', `${CORE}/configmaps/c-${index}`));
  await lists(server, load, measure);
  const slow = rates.filter((rate) => rate < WRITES_PER_SECOND_MIN).length;
  if (slow > 0) console.log(`    OUT OF RANGE: ${slow} kinds of writes are below ${WRITES_PER_SECOND_MIN} a second`);
  return slow === 0;
}

/** How many a second; printed. */
type Measure = (what: string, count: number, run: (index: number) => Promise<unknown>) => Promise<number>;

const meter =
  (way: string, server: BenchServer, connections: number): Measure =>
  async (what, count, run) => {
    const cpuBefore = server.cpuSeconds();
    const begin = performance.now();
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < count) await run(next++);
    };
    await Promise.all(Array.from({ length: connections }, loop));
    const rate = (count * 1000) / (performance.now() - begin);
    const cpuMicros = ((server.cpuSeconds() - cpuBefore) / count) * 1e6;
    console.log(`${way.padEnd(9)}${what.padEnd(44)}${rate.toFixed(rate < 100 ? 1 : 0).padStart(10)}${cpuMicros.toFixed(0).padStart(20)}`);
    return rate;
  };

/** Every watcher sees every change; how far the slowest is behind when the last write is answered. */
async function fanOut(
  server: BenchServer,
  { writes, watchers }: Load,
  measure: (what: string, write: (index: number) => Promise<unknown>) => Promise<number>,
): Promise<void> {
  const { metadata } = JSON.parse(await server.call('GET', `${CORE}/configmaps?limit=1`)) as { metadata: { resourceVersion: string } };
  const at = `${CORE}/configmaps?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const watches = await Promise.all(Array.from({ length: watchers }, () => server.watch(at)));
  await measure(`merge patch, ${watchers} watchers`, (index) =>
    server.call('PATCH', `${CORE}/configmaps/c-${index}`, { data: { a: 'c' } }, MERGE),
  );
  const begin = performance.now();
  while (watches.some((watch) => watch.lines() < writes)) await sleep(systemClock, 1);
  console.log(`    the slowest watcher had all ${writes} events ${Math.round(performance.now() - begin)} ms after the last answer`);
  for (const watch of watches) watch.stop();
}

const NAMESPACES = 10;
const APPS = 100;

/** Lists among many pods, which are spread over namespaces and labels. */
async function lists(server: BenchServer, { objects }: Load, measure: Measure): Promise<void> {
  const namespace = (index: number): string => `bench-${index % NAMESPACES}`;
  for (let index = 0; index < NAMESPACES; index++)
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace(index) } });
  const before = server.residentBytes();
  await measure(`create ${objects} Pods`, objects, (index) =>
    server.call('POST', `/api/v1/namespaces/${namespace(index)}/pods`, pod(`p-${index}`, { app: `app-${index % APPS}` })),
  );
  console.log(`    resident memory grew by ${((server.residentBytes() - before) / objects / 1024).toFixed(1)} KiB for each`);
  await measure(`list all`, 5, () => server.call('GET', '/api/v1/pods'));
  await measure(`list one namespace of ${NAMESPACES}`, 50, () => server.call('GET', `/api/v1/namespaces/${namespace(1)}/pods`));
  await measure(`list one label of ${APPS}`, 200, () => server.call('GET', '/api/v1/pods?labelSelector=app%3Dapp-1'));
  await measure('list one label in one namespace', 500, () =>
    server.call('GET', `/api/v1/namespaces/${namespace(1)}/pods?labelSelector=app%3Dapp-1`),
  );
  await measure('list the first 500', 200, () => server.call('GET', '/api/v1/pods?limit=500'));
  await measure('list the first 500, each after a create', 200, async (index) => {
    await server.call('POST', `/api/v1/namespaces/${namespace(index)}/pods`, pod(`q-${index}`, {}));
    return server.call('GET', '/api/v1/pods?limit=500');
  });
  await measure('list one label, each after a create', 200, async (index) => {
    await server.call('POST', `/api/v1/namespaces/${namespace(index)}/pods`, pod(`r-${index}`, {}));
    return server.call('GET', '/api/v1/pods?labelSelector=app%3Dapp-1');
  });
  await measure('walk all in pages of 500, changing meanwhile', 1, () => walk(server, namespace(1)));
}

async function walk(server: BenchServer, namespace: string): Promise<void> {
  let token = '';
  for (let page = 0; ; page++) {
    const text = await server.call('GET', `/api/v1/pods?limit=500&continue=${encodeURIComponent(token)}`);
    token = /"continue":"([^"]+)"/.exec(text)?.[1] ?? '';
    if (token === '') return;
    await server.call('POST', `/api/v1/namespaces/${namespace}/pods`, pod(`s-${page}`, {}));
  }
}
