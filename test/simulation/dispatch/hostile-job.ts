/** Jobs of a tenant who wants more than his share, and says whatever may help. */
import type { Container, Job, JobSpec, PodSpec, Unsaved } from '../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  CLUSTERS_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../../shared/api/names.ts';
import type { Dice } from '../dice.ts';

/** What he knows: queues and clusters of the installation, and records that he has seen on Jobs. */
export type Knowledge = { readonly queues: readonly string[]; readonly clusters: readonly string[]; readonly records: readonly string[] };

export function hostileJob(dice: Dice, namespace: string, name: string, knows: Knowledge): Unsaved<Job> {
  const metadata = { namespace, name, labels: labels(dice), annotations: annotations(dice, knows) };
  const managedBy = dice.chance(0.85)
    ? MANAGER_CONTROLLER_NAME
    : dice.pick([WORKER_CONTROLLER_NAME, 'kubernetes.io/job-controller', 'example.com/own', undefined]);
  const indexed = dice.chance(0.3);
  const spec: JobSpec = {
    parallelism: dice.pick([0, 1, 1, 2, 3, 5, 1000]),
    ...(indexed ? { completionMode: 'Indexed', completions: dice.int(1, 5) } : dice.chance(0.7) ? { completions: dice.int(1, 5) } : {}),
    suspend: dice.chance(0.8),
    ...(managedBy === undefined ? {} : { managedBy }),
    backoffLimit: dice.int(0, 3),
    template: { spec: { ...hungryPod(dice), restartPolicy: 'Never', terminationGracePeriodSeconds: dice.pick([0, 5, 120]) } },
  };
  return { metadata, spec };
}

/**
 * A Job that is admitted at once, and gives quota back while it runs: pods of different size and grace, that end and are stopped at
 * different times.
 */
export function shrinkingJob(dice: Dice, namespace: string, name: string): Unsaved<Job> {
  const parallelism = dice.int(2, 4);
  const completions = dice.pick([undefined, parallelism, parallelism, dice.int(2, 6)]);
  const spec: JobSpec = {
    parallelism,
    ...(completions === undefined ? {} : { completions, ...(dice.chance(0.6) ? { completionMode: 'Indexed' } : {}) }),
    suspend: true,
    managedBy: MANAGER_CONTROLLER_NAME,
    backoffLimit: dice.int(1, 6),
    ...dice.pick([{}, {}, { podReplacementPolicy: 'TerminatingOrFailed' as const }, { podReplacementPolicy: 'Failed' as const }]),
    template: {
      spec: {
        containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: dice.pick(['1', '1m', '500m']), memory: '100Mi' } } }],
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: dice.pick([0, 5, 30, 120]),
      },
    },
  };
  return { metadata: { namespace, name, labels: { [QUEUE_NAME_LABEL]: 'main' } }, spec };
}

/** Every way to ask for resources. */
export function hungryPod(dice: Dice): PodSpec {
  const container = (name: string): Container => ({ name, image: 'busybox', ...resources(dice) });
  const init = dice.chance(0.3) ? [container('init'), ...(dice.chance(0.5) ? [sidecar(dice)] : [])] : [];
  return {
    containers: [container('main'), ...(dice.chance(0.2) ? [container('other')] : [])],
    ...(init.length === 0 ? {} : { initContainers: init }),
    ...(dice.chance(0.15) ? { resources: podLevel(dice) } : {}),
  };
}

const sidecar = (dice: Dice): Container => ({ name: 'sidecar', image: 'busybox', restartPolicy: 'Always', ...resources(dice) });

function resources(dice: Dice): Pick<Container, 'resources'> {
  const cpu = dice.pick(['1', '500m', '1500m', '0', '100n', '3']);
  const memory = dice.pick(['1Gi', '100Mi', '1e9', '3Gi']);
  switch (dice.pick(['requests', 'limits', 'both', 'cpu', 'none'] as const)) {
    case 'requests':
      return { resources: { requests: { cpu, memory } } };
    case 'limits':
      return { resources: { limits: { cpu, memory } } };
    case 'both':
      return { resources: { requests: { cpu: '1m', memory: '1' }, limits: { cpu, memory } } };
    case 'cpu':
      return { resources: { limits: { cpu }, requests: { memory } } };
    default:
      return {};
  }
}

function podLevel(dice: Dice): NonNullable<PodSpec['resources']> {
  const amounts = { cpu: '4', memory: '6Gi' };
  return dice.chance(0.5) ? { limits: amounts } : { requests: amounts };
}

function labels(dice: Dice): Record<string, string> {
  return {
    ...dice.pick([
      { [QUEUE_NAME_LABEL]: 'main' },
      { [QUEUE_NAME_LABEL]: 'main' },
      { [QUEUE_NAME_LABEL]: 'main' },
      { [QUEUE_NAME_LABEL]: 'none' },
      { [QUEUE_NAME_LABEL]: '' },
      { [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'main' },
      { [KUEUE_QUEUE_NAME_LABEL]: 'main' },
      {},
    ]),
    ...(dice.chance(0.1) ? { [ORIGIN_LABEL]: 'somebody' } : {}),
  };
}

function annotations(dice: Dice, knows: Knowledge): Record<string, string> {
  return {
    ...(dice.chance(0.3) ? { [ADMISSION_ANNOTATION]: forgedRecord(dice, knows) } : {}),
    ...(dice.chance(0.1) ? { [ORIGIN_UID_ANNOTATION]: 'a-uid' } : {}),
    ...(dice.chance(0.1) ? { [ORIGIN_NAME_ANNOTATION]: 'job-0' } : {}),
    ...(dice.chance(0.1) ? { [DISPATCH_EPOCH_ANNOTATION]: String(dice.int(0, 9)) } : {}),
    ...(dice.chance(0.1) ? { [SUBMISSION_ANNOTATION]: '1' } : {}),
    ...(dice.chance(0.1) ? { [PRIORITY_ANNOTATION]: dice.pick(['2147483647', '-5', 'high']) } : {}),
    ...(dice.chance(0.1) ? { [CLUSTERS_ANNOTATION]: dice.pick(['nowhere', 'east', '!x', ',']) } : {}),
  };
}

/** A record as admission might have made it, one that it has made for another Job, or rubbish. */
export function forgedRecord(dice: Dice, { queues, clusters, records }: Knowledge): string {
  const seen = dice.some(records);
  if (seen !== undefined && dice.chance(0.5)) return seen;
  if (dice.chance(0.1)) return dice.pick(['', '{}', 'null', '[', '{"epoch":1}']);
  // Some of what he has seen was rubbish of his own.
  const model: unknown = seen?.startsWith('{"clusterQueue"') === true ? JSON.parse(seen) : {};
  return JSON.stringify({
    ...(typeof model === 'object' ? model : {}),
    clusterQueue: dice.some(queues),
    flavors: dice.pick([{ cpu: 'default', memory: 'default', pods: 'default' }, {}]),
    cluster: dice.some(clusters),
    epoch: dice.int(1, 3),
    since: '2026-01-01T00:00:00Z',
    requests: dice.pick([
      { cpu: '1', memory: '1Gi', pods: '1' },
      { cpu: '100', memory: '1Ti', pods: '1000' },
    ]),
  });
}
