/** A tenant with the rights of Kubernetes' role `edit` in his namespace, who tries whatever these let him do to Jobs. */
import type { Job, KubeObject, Unsaved } from '../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { JOBS, type Resource } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Dice } from '../dice.ts';
import { forgedRecord, hostileJob, hungryPod, shrinkingJob, type Knowledge } from './hostile-job.ts';
import type { Cluster, Yard } from './yard.ts';

export interface HostileTenant {
  /** Does one thing to some Job, or makes one. */
  act(): Promise<void>;
  /** Manifests and updates sent so far. */
  sent(): number;
  /** How many of them the server took. */
  taken(): number;
}

/** What he makes of Jobs, and does to them; one of `acts` is drawn each time. */
export type TenantWays = {
  readonly job: (dice: Dice, namespace: string, name: string, knows: Knowledge) => Unsaved<Job>;
  readonly acts: readonly [Act, ...Act[]];
  /** How many Jobs he has at most, and how often he makes another one. */
  readonly names: number;
  readonly newJobs: number;
};
type Act = 'release' | 'suspend' | 'size' | 'elastic size' | 'record' | 'old record' | 'resources' | 'queue' | 'delete' | 'annotate';

/** Whatever may help. */
export const ANY_WAYS: TenantWays = {
  job: hostileJob,
  acts: ['release', 'suspend', 'size', 'record', 'old record', 'resources', 'queue', 'delete', 'delete', 'annotate'],
  names: 12,
  newJobs: 0.35,
};
/** He has his Jobs give quota back, and wants the pods none the less. */
export const SHRINKING_WAYS: TenantWays = {
  job: shrinkingJob,
  acts: ['size', 'size', 'size', 'elastic size', 'elastic size', 'suspend', 'release', 'delete'],
  names: 3,
  newJobs: 0.2,
};
const ROLE_BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
};

export async function createHostileTenant(options: {
  readonly yard: Yard;
  readonly namespace: string;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly trace: (line: string) => void;
  readonly ways: TenantWays;
}): Promise<HostileTenant> {
  const { yard, namespace, clock, dice, trace, ways } = options;
  const client = await clientOf(yard.home, namespace, clock);
  /** Annotation texts by UID, oldest first: admissions of the past. */
  const records = new Map<string, string[]>();
  let sent = 0;
  let taken = 0;

  const knowledge = (): Knowledge => ({
    queues: [...yard.teams.map((team) => team.namespace), 'none'],
    clusters: [...yard.workers.map(({ name }) => name), 'nowhere'],
    records: [...records.values()].flat(),
  });

  async function act(): Promise<void> {
    const jobs = (await client.list(JOBS, { namespace })).items;
    for (const job of jobs) remember(job);
    const job = dice.some(jobs);
    if (job === undefined || dice.chance(ways.newJobs)) {
      const name = `job-${dice.int(0, ways.names - 1)}`;
      return attempt(`create ${name}`, () => client.create(JOBS, ways.job(dice, namespace, name, knowledge())));
    }
    return meddle(job);
  }

  function remember({ metadata: { uid, annotations } }: Job): void {
    const text = annotations?.[ADMISSION_ANNOTATION];
    const known = records.get(uid) ?? [];
    if (text !== undefined && !known.includes(text)) records.set(uid, [...known, text]);
  }

  async function meddle(job: Job): Promise<void> {
    const { name, uid } = job.metadata;
    const own = records.get(uid) ?? [];
    switch (dice.pick(ways.acts)) {
      case 'release':
        return patch(name, { spec: { suspend: false } });
      case 'suspend':
        return patch(name, { spec: { suspend: true } });
      case 'size':
        return patch(name, { spec: { parallelism: dice.int(0, 6), ...(dice.chance(0.3) ? { suspend: dice.chance(0.5) } : {}) } });
      case 'elastic size': {
        const size = dice.int(0, 6);
        return patch(name, { spec: { parallelism: size, completions: size } });
      }
      case 'record':
        return patch(name, {
          metadata: { annotations: { [ADMISSION_ANNOTATION]: dice.chance(0.2) ? null : forgedRecord(dice, knowledge()) } },
          ...(dice.chance(0.5) ? { spec: { suspend: false } } : {}),
        });
      case 'old record':
        return patch(name, { metadata: { annotations: { [ADMISSION_ANNOTATION]: dice.some(own) ?? null } }, spec: { suspend: false } });
      case 'resources': {
        const { containers, initContainers, resources } = hungryPod(dice);
        return patch(name, {
          spec: { template: { spec: { containers, initContainers: initContainers ?? null, resources: resources ?? null } } },
        });
      }
      case 'queue':
        return patch(name, { metadata: { labels: { [QUEUE_NAME_LABEL]: dice.pick(['main', 'none', '', null]) } } });
      case 'annotate':
        return patch(name, { metadata: { annotations: { note: String(dice.int(0, 99)) } } });
      case 'delete': {
        const propagationPolicy = dice.pick(['Background', 'Foreground', 'Orphan'] as const);
        return attempt(`delete ${name} ${propagationPolicy}`, () => client.delete(JOBS, { namespace, name }, { propagationPolicy }));
      }
    }
  }

  const patch = (name: string, body: object): Promise<void> =>
    attempt(`patch ${name} ${JSON.stringify(body)}`, () => client.patch(JOBS, { namespace, name }, { type: 'merge', body }));

  /** What the server does not let through has not happened. */
  async function attempt(what: string, call: () => Promise<unknown>): Promise<void> {
    sent++;
    trace(`tenant: ${what}`);
    try {
      await call();
      taken++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      trace(`tenant: refused: ${error.message.slice(0, 200)}`);
    }
  }

  return { act, sent: () => sent, taken: () => taken };
}

async function clientOf({ admin, plane }: Cluster, namespace: string, clock: Clock): Promise<KubeClient> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => admin.create(resource, object as never);
  await create(ROLE_BINDINGS, {
    metadata: { name: 'tenant', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
  });
  return createKubeClient(plane.transport({ name: 'mallory', groups: ['system:authenticated'] }), { userAgent: 'mallory', clock });
}
