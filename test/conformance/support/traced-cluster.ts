/**
 * A cluster whose worker is listened to: every write it makes becomes a line, in the order of the calls. A status shows
 * its fields that are not zero, and pods go by a short name: their index, or `p` and the number of their creation.
 */
import type { Job, JobCondition, JobSpec, JobStatus, Pod } from '../../../shared/api/kubernetes.ts';
import { JOB_COMPLETION_INDEX } from '../../../shared/api/names.ts';
import { EVENTS, JOBS, NAMESPACES, PODS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../shared/kube/transport.ts';
import { BUILT_IN_SETTINGS, startCluster, startWorker } from '../../support/embedded-cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { podStatus } from './pod-status.ts';
import type { Step } from './scenario.ts';

export const NAMESPACE = 'team';
export const JOB_NAME = 'work';
const KEY = { namespace: NAMESPACE, name: JOB_NAME };

export type JobParts = Omit<Partial<JobSpec>, 'template'> & {
  readonly restartPolicy?: string;
  readonly labels?: Record<string, string>;
  readonly grace?: number;
};

export interface TracedCluster {
  readonly client: KubeClient;
  readonly clock: FakeClock;
  create(parts?: JobParts): Promise<Job>;
  patch(spec: object): Promise<void>;
  deleteJob(propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void>;
  job(): Promise<Job | undefined>;
  status(): Promise<JobStatus>;
  /** The status without times and without what is under way; conditions are `type/reason: message`. */
  shown(): Promise<object>;
  /** Binds all pods, lets them run, and lets that be noticed. */
  runAll(): Promise<void>;
  /** The pods that exist, in the order of their creation. */
  pods(): Promise<Pod[]>;
  /** The pods by their short names. */
  names(): Promise<string[]>;
  /** The kubelet's part: the newest pod of this short name is bound to a node, runs, ends or is removed. */
  pod(name: string, what: Step['do'], more?: Partial<Step>): Promise<void>;
  pass(seconds: number): Promise<void>;
  /** The lines since the last call. */
  trace(): string[];
  /** Events of the Job as `reason: message`, without those of single pods' creation and deletion. */
  events(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function traceCluster(): Promise<TracedCluster> {
  const clock = new FakeClock();
  const cluster = await startCluster(clock);
  const { client } = cluster;
  const lines: string[] = [];
  const labelOf = new Map<string, string>();
  let created = 0;
  const label = (pod: Pod): string => {
    const known = labelOf.get(pod.metadata.uid);
    if (known !== undefined) return known;
    const given = pod.metadata.annotations?.[JOB_COMPLETION_INDEX] ?? `p${created++}`;
    labelOf.set(pod.metadata.uid, given);
    labelOf.set(pod.metadata.name, given);
    return given;
  };
  const listen = (transport: Transport): Transport => ({
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
    async send(request) {
      const response = await transport.send(request);
      const line = describe(request, response, label, labelOf);
      if (line !== undefined) lines.push(response.status < 400 ? line : `${line} !${response.status}`);
      return response;
    },
  });
  const heard = { transport: () => listen(cluster.plane.transport()) };
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  const worker = startWorker(heard, clock, BUILT_IN_SETTINGS);
  await clock.settle();

  const job = async (): Promise<Job | undefined> => {
    try {
      return await client.get(JOBS, KEY);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const pods = async (): Promise<Pod[]> => {
    const { items } = await client.list(PODS, { namespace: NAMESPACE });
    const order = [...labelOf.keys()];
    return items.toSorted((a, b) => order.indexOf(a.metadata.uid) - order.indexOf(b.metadata.uid));
  };
  const act = async (name: string, what: Step['do'], more: Partial<Step> = {}): Promise<void> => {
    const pod = (await pods()).findLast((each) => label(each) === name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    await doToPod(client, pod, { ...more, do: what }, clock.now());
    await clock.settle();
  };
  return {
    client,
    clock,
    job,
    pods,
    names: async () => (await pods()).map(label),
    status: async () => (await job())?.status ?? {},
    shown: async () => shownStatus((await job())?.status ?? {}),
    async runAll() {
      for (const name of (await pods()).map(label)) {
        await act(name, 'bind');
        await act(name, 'run');
      }
      await clock.advance(2000);
    },
    async create({ restartPolicy = 'Never', labels = { app: 'work' }, grace, ...spec } = {}) {
      const podSpec = {
        restartPolicy,
        containers: [{ name: 'main', image: 'i' }],
        ...(grace ? { terminationGracePeriodSeconds: grace } : {}),
      };
      const template = { metadata: { labels }, spec: podSpec };
      const made = await client.create(JOBS, { metadata: { namespace: NAMESPACE, name: JOB_NAME }, spec: { ...spec, template } } as Job);
      await clock.settle();
      return made;
    },
    async patch(spec) {
      await client.patch(JOBS, KEY, { type: 'merge', body: { spec } });
      await clock.settle();
    },
    async deleteJob(propagationPolicy) {
      await client.delete(JOBS, KEY, { propagationPolicy });
      await clock.settle();
    },
    pod: act,
    pass: (seconds) => clock.advance(seconds * 1000),
    trace: () => lines.splice(0),
    async events() {
      const { items } = await client.list(EVENTS, { namespace: NAMESPACE });
      return items.filter(({ reason }) => reason?.startsWith('Successful') !== true).map(({ reason, message }) => `${reason}: ${message}`);
    },
    async stop() {
      await worker.stop();
      await cluster.plane.close();
    },
  };
}

function shownStatus(status: JobStatus): object {
  const { conditions, startTime: _start, completionTime: _end, uncountedTerminatedPods: _uncounted, ...counters } = status;
  const textOf = ({ type, status: value, reason, message }: JobCondition): string =>
    `${value === 'True' ? '' : 'not '}${type}/${reason}: ${message}`;
  return { ...counters, conditions: (conditions ?? []).map(textOf) };
}

async function doToPod(client: KubeClient, pod: Pod, step: Step, nowMs: number): Promise<unknown> {
  const key = { namespace: NAMESPACE, name: pod.metadata.name };
  switch (step.do) {
    case 'bind': {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: key.name }, target: { kind: 'Node', name: 'node-1' } };
      return client.raw({ method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/pods/${key.name}/binding`, body });
    }
    case 'delete':
      return client.delete(PODS, key);
    case 'remove':
      return client.delete(PODS, key, { gracePeriodSeconds: 0 });
    default:
      return client.patchStatus(PODS, key, { type: 'merge', body: { status: podStatus(pod, step, nowMs) } });
  }
}

function describe(
  { method, path, body = '' }: TransportRequest,
  response: TransportResponse,
  label: (pod: Pod) => string,
  labelOf: ReadonlyMap<string, string>,
): string | undefined {
  const [, resource = '', name = '', sub = ''] = /\/namespaces\/[^/]+\/(pods|jobs)(?:\/([^/?]+))?(?:\/([^/?]+))?/.exec(path) ?? [];
  if (method === 'GET' || resource === '') return undefined;
  if (resource === 'jobs') return sub === 'status' ? describeStatus((JSON.parse(body) as Job).status ?? {}, labelOf) : `${method} job`;
  if (method === 'POST') return response.status < 400 ? `create ${label(JSON.parse(response.body) as Pod)}` : 'create';
  const what =
    method === 'DELETE' ? 'delete' : body.includes('"$patch":"delete"') ? 'release' : body.includes('$deleteFrom') ? 'P-' : 'adopt';
  return `${what} ${labelOf.get(name) ?? name}`;
}

function describeStatus(status: JobStatus, labelOf: ReadonlyMap<string, string>): string {
  const uids = (list: readonly string[] | null | undefined): string => (list ?? []).map((uid) => labelOf.get(uid) ?? 'unknown').join(',');
  const counted = (['active', 'ready', 'terminating', 'succeeded', 'failed'] as const).flatMap((field) => {
    const value = status[field];
    return value ? [`${field} ${value}`] : [];
  });
  const { uncountedTerminatedPods: uncounted } = status;
  const parts = [
    ...(status.startTime ? ['start'] : []),
    ...counted,
    ...(status.completedIndexes ? [`completed ${status.completedIndexes}`] : []),
    ...(status.failedIndexes ? [`failedIndexes ${status.failedIndexes}`] : []),
    ...(uncounted?.succeeded?.length ? [`u.succeeded ${uids(uncounted.succeeded)}`] : []),
    ...(uncounted?.failed?.length ? [`u.failed ${uids(uncounted.failed)}`] : []),
    ...(status.completionTime ? ['completionTime'] : []),
    ...(status.conditions ?? []).map(({ type, status: value, reason }) => `${value === 'True' ? '' : 'not '}${type}/${reason}`),
  ];
  return `S{${parts.join(', ')}}`;
}
