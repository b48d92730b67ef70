import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { KUEUE_QUEUE_NAME_LABEL, ORIGIN_LABEL, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, LEASES, NAMESPACES, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient, ListOptions } from '../../../shared/kube/client.ts';
import { matchesLabelSelector, requirementsOf } from '../../../shared/kube/selectors.ts';
import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { LOCAL_QUEUES } from '../../api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../api/resource-flavor.ts';
import { SUBMISSION_QUEUES } from '../../api/submission-queue.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { areFine, checkLines, clockCheck, note, ok, versionCheck, wrong, wrongFirst, type Check } from '../checks.ts';
import type { ClusterChoice, ClusterConnection } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import type { Rule } from '../clusters/access-rights.ts';
import { ExitCode } from '../exit-codes.ts';
import { listWork } from '../list-work.ts';
import { report } from '../report.ts';
import type { RedisConfig } from '../../config/redis-flags.ts';
import type { Session } from '../session.ts';
import { withCluster } from '../with-cluster.ts';
import {
  authoritiesOf,
  calledService,
  judgeClusters,
  judgeDefinitions,
  judgeManager,
  judgeServiceAbsence,
  judgeUnlabelled,
  judgeUnseen,
  judgeWebhooks,
  unlabelledIn,
  type Definition,
  type WebhookConfiguration,
} from './judgements.ts';
import { judgeRedisFound } from './redis-judgements.ts';
import { compareClusters } from './compare-clusters.ts';
import { listed, lookAtPrograms, type Programs } from './look-at-programs.ts';
import { judgeQueues } from './queue-judgements.ts';
import { UNSEEN_ALERTS } from './alerts.ts';
import { judgeCertificates, judgeTokens, tokenLife, type TokenLife } from './expiry-judgements.ts';
import { judgeDeletions, judgeStuckQueues, judgeSubmissionQueues, judgeUnmanaged, judgeWaiting } from './waiting-judgements.ts';

export type DoctorConfig = ClusterChoice & {
  readonly 'manager-namespace': string;
  /** The namespace for whose Jobs clusters are compared; absent: none. */
  readonly namespace?: string | undefined;
  readonly 'cluster-kubeconfig'?: string | undefined;
  readonly output: Form;
  readonly redis: RedisConfig | undefined;
};

export const runDoctor = (config: DoctorConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { client } = connection;
    const namespace = config['manager-namespace'];
    const programs = lookAtPrograms(client, namespace, session.now());
    // Causes stand before what follows from them.
    const looked = await Promise.all([
      versionAndClock(client, session.now),
      programs.then(({ releases }) => releases),
      programs.then(({ hasWorkerAlone }) => definitions(client, hasWorkerAlone)),
      programs.then(({ deployments }) => deployments),
      programs.then((found) => manager(client, namespace, session.now, found)),
      webhooks(client, session.now),
      redis(config.redis, session.now),
      clusters(client, session.now),
      queues(client),
      work(connection, session.now),
      unlabelled(connection),
      config.namespace === undefined ? [] : compareClusters(connection, config.namespace, config),
    ]);
    const checks = wrongFirst([...looked.flat(), elsewhere()]);
    const fine = areFine(checks);
    await report(session, config.output, { lines: checkLines(checks, session.output), value: { fine, checks } });
    return fine ? ExitCode.Done : ExitCode.Failed;
  });

/** ioredis takes a while to load. */
const redis = async (config: RedisConfig | undefined, now: () => number): Promise<readonly Check[]> =>
  config === undefined
    ? [
        note(
          'redis',
          'is not looked at: nobody says where it is',
          '--redis-url or --redis-url-file (SWITCHYARD_REDIS_URL, SWITCHYARD_REDIS_URL_FILE), as the manager has it',
        ),
      ]
    : judgeRedisFound(await (await import('./look-at-redis.ts')).lookAtRedis(config, now));

const admissionKind = <T extends KubeObject>(kind: string): Resource<T> => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
});

/** What there is; what may not be read, or is not served, is said instead of judged. */
const judged = <T extends KubeObject>(
  check: string,
  client: KubeClient,
  resource: Resource<T>,
  options: ListOptions,
  judge: (items: readonly T[]) => Check | readonly Check[] | Promise<readonly Check[]>,
): Promise<readonly Check[]> =>
  unlessClosed(check, resource, async () => [await judge((await client.list(resource, options)).items)].flat());

async function unlessClosed(
  check: string,
  resource: Pick<Resource, 'plural'>,
  look: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 403 && error.code !== 404)) throw error;
    return [
      note(
        check,
        error.code === 403 ? `cannot be looked at: you may not list ${resource.plural}` : `${resource.plural} are not served here`,
      ),
    ];
  }
}

async function versionAndClock(client: KubeClient, now: () => number): Promise<Check[]> {
  const { gitVersion } = JSON.parse(await client.raw({ method: 'GET', path: '/version' })) as { gitVersion?: unknown };
  const beforeMs = now();
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = JSON.parse(await client.raw({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body })) as {
    metadata?: { creationTimestamp?: string };
    status?: { userInfo?: { username?: string } };
  };
  const theirsMs = Date.parse(review.metadata?.creationTimestamp ?? '');
  return [
    versionCheck('version', typeof gitVersion === 'string' ? gitVersion : 'unknown'),
    Number.isNaN(theirsMs) ? note('clock', 'the API server does not tell its time') : clockCheck('clock', theirsMs, beforeMs, now()),
    ok('you', review.status?.userInfo?.username ?? 'unknown'),
  ];
}

const definitions = (client: KubeClient, hasWorkerAlone: boolean): Promise<readonly Check[]> => {
  const wanted = SWITCHYARD_KINDS.map(({ resource }) => `${resource.plural}.${resource.group}`);
  return judged('definitions', client, CUSTOM_RESOURCE_DEFINITIONS as Resource<Definition>, {}, (found) =>
    judgeDefinitions(found, wanted, hasWorkerAlone),
  );
};

/** A Lease that nobody renews follows from a Deployment without pods, and is not said again. */
async function manager(
  client: KubeClient,
  namespace: string,
  now: () => number,
  { isManagerDown, absence }: Programs,
): Promise<readonly Check[]> {
  if (isManagerDown) return [];
  return judged('manager', client, LEASES, { namespace }, async (leases) => {
    const check = judgeManager(leases, namespace, now());
    const absent = check.result === 'ok' ? undefined : await absence(await serviceOfWebhook(client));
    const lease = leases.find(({ metadata }) => metadata.name.endsWith('switchyard-manager'));
    if (lease === undefined) return [absent ?? check];
    return [...(absent === undefined ? [] : [absent]), check, await managerRights(client, namespace, lease.metadata.name)];
  });
}

/** NAMESPACE/NAME of what our webhook calls; undefined: it calls a URL, or there is none to be seen. */
async function serviceOfWebhook(client: KubeClient): Promise<string | undefined> {
  let called: string | undefined;
  await judged('mutating webhook', client, admissionKind<WebhookConfiguration>('MutatingWebhookConfiguration'), {}, (found) => {
    called = calledService(found);
    return [];
  });
  return called;
}

/** The chart calls Lease and account alike, unless it is told otherwise. */
async function managerRights(client: KubeClient, namespace: string, name: string): Promise<Check> {
  const text = readFileSync(new URL('../../../charts/switchyard-manager/files/manager-rules.yaml', import.meta.url), 'utf8');
  const rules = parse(text.replaceAll('RELEASE', name)) as { cluster: readonly Rule[]; namespace: readonly Rule[] };
  const asked = [...questions(rules.cluster, ''), ...questions(rules.namespace, namespace)];
  const user = `system:serviceaccount:${namespace}:${name}`;
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  try {
    const missing: string[] = [];
    for (const resourceAttributes of asked) {
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, groups: ['system:serviceaccounts'], resourceAttributes },
      };
      const { status } = JSON.parse(await client.raw({ method: 'POST', path, body })) as { status?: { allowed?: unknown } };
      if (status?.allowed !== true) missing.push(`${resourceAttributes.verb} ${resourceAttributes.resource}`);
    }
    return missing.length === 0
      ? ok('manager rights', `${user} may do all of ${asked.length} things that it does`)
      : wrong(
          'manager rights',
          `${user} may not ${[...new Set(missing)].join(', ')}`,
          'helm upgrade switchyard-manager writes its roles anew',
        );
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    return note('manager rights', 'cannot be looked at: you may not create subjectaccessreviews');
  }
}

const questions = (rules: readonly Rule[], namespace: string) =>
  rules.flatMap(({ apiGroups, resources, verbs, resourceNames: [name] = [] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((each) =>
        verbs.map((verb) => {
          const [resource = '', subresource = ''] = each.split('/');
          return { group, resource, subresource, verb, namespace, name: name ?? '' };
        }),
      ),
    ),
  );

async function webhooks(client: KubeClient, now: () => number): Promise<readonly Check[]> {
  let hasPolicy = false;
  let endings: readonly number[] = [];
  const unread = await judged('admission policy', client, admissionKind('ValidatingAdmissionPolicy'), {}, (policies) => {
    hasPolicy = policies.some(({ metadata }) => metadata.name.includes('switchyard'));
    return hasPolicy ? [ok('admission policy', 'holds the rules of Jobs also while no manager answers')] : [];
  });
  const [mutating, validating] = await Promise.all([
    judged('mutating webhook', client, admissionKind<WebhookConfiguration>('MutatingWebhookConfiguration'), {}, (found) => {
      endings = authoritiesOf(found).flatMap(notAfter);
      return judgeWebhooks('mutating', found, hasPolicy);
    }),
    judged('validating webhook', client, admissionKind<WebhookConfiguration>('ValidatingWebhookConfiguration'), {}, (found) =>
      judgeWebhooks('validating', found, hasPolicy),
    ),
  ]);
  return [...mutating, ...validating, ...(await webhookService(client)), ...judgeCertificates(endings, now()), ...unread];
}

const SERVICES: Resource<KubeObject> = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

async function webhookService(client: KubeClient): Promise<Check[]> {
  const called = await serviceOfWebhook(client);
  if (called === undefined) return [];
  const [namespace = '', name = ''] = called.split('/');
  try {
    await client.get(SERVICES, { namespace, name });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 403 && error.code !== 404)) throw error;
    return error.code === 404 ? [judgeServiceAbsence(called)] : [];
  }
}

/** When each certificate of a bundle ends; what is no certificate is the API server's to refuse. */
const notAfter = (pem: string): number[] => {
  try {
    return [Date.parse(new X509Certificate(pem).validTo)];
  } catch {
    return [];
  }
};

const queues = (client: KubeClient): Promise<readonly Check[]> =>
  judged('queues', client, CLUSTER_QUEUES, {}, async (clusterQueues) => [
    ...(await judged('queues', client, LOCAL_QUEUES, {}, async (localQueues) => {
      const [flavors, found] = await Promise.all([listed(client, RESOURCE_FLAVORS, {}), listed(client, WORKER_CLUSTERS, {})]);
      return judgeQueues({ clusterQueues, localQueues, flavors, clusters: found });
    })),
    ...judgeStuckQueues(clusterQueues),
    ...(await judged('submissions', client, SUBMISSION_QUEUES, {}, judgeSubmissionQueues)),
  ]);

const clusters = (client: KubeClient, now: () => number): Promise<readonly Check[]> =>
  judged('clusters', client, WORKER_CLUSTERS, {}, async (found) => [...judgeClusters(found, now()), ...(await tokens(client, found, now))]);

/** Of those Secrets that may be read: who may not read Secrets of the manager is told nothing of tokens, and that is no trouble. */
async function tokens(client: KubeClient, found: readonly WorkerCluster[], now: () => number): Promise<Check[]> {
  const lives = await Promise.all(
    found.map(async ({ metadata, spec }): Promise<TokenLife[]> => {
      if (spec.kubeconfigSecretRef === undefined) return [];
      try {
        const { data } = await client.get(SECRETS, spec.kubeconfigSecretRef);
        const kubeconfig = parse(Buffer.from(data?.[spec.kubeconfigSecretRef.key ?? 'kubeconfig'] ?? '', 'base64').toString()) as unknown;
        const life = tokenLife(tokenIn(kubeconfig));
        return life === undefined ? [] : [{ cluster: metadata.name, ...life }];
      } catch (error) {
        if (error instanceof ApiError && (error.code === 403 || error.code === 404)) return [];
        throw error;
      }
    }),
  );
  return judgeTokens(lives.flat(), now());
}

const tokenIn = (kubeconfig: unknown): string => {
  const { users } = (kubeconfig ?? {}) as { users?: readonly { user?: { token?: unknown } }[] };
  const token = users?.[0]?.user?.token;
  return typeof token === 'string' ? token : '';
};

/** Jobs and objects of other kinds. */
const work = (connection: ClusterConnection, now: () => number): Promise<readonly Check[]> =>
  unlessClosed('jobs', connection.kind.resource, async () => {
    const { objects, by, unread, unknownKinds } = await listWork(connection, { labelSelector: QUEUE_NAME_LABEL });
    return [
      judgeUnseen(by.kind, objects),
      ...judgeUnmanaged(by.kind, objects, now()),
      ...judgeWaiting(by.kind, objects, now()),
      judgeDeletions(by.kind, objects, now()),
      ...(unknownKinds === undefined ? [] : [note('kinds', `only Jobs are looked at: ${unknownKinds}`)]),
      ...unread.map(({ plural, why }) => note(plural, `cannot be looked at: ${why}`)),
    ];
  });

/** Work without a queue label in namespaces where it is to be managed, and that is not. */
const unlabelled = (connection: ClusterConnection): Promise<readonly Check[]> => {
  const { client } = connection;
  return judged(
    'mutating webhook',
    client,
    admissionKind<WebhookConfiguration>('MutatingWebhookConfiguration'),
    {},
    async (configurations) => {
      const selector = unlabelledIn(configurations);
      if (selector === undefined) return [];
      const requirements = requirementsOf(selector);
      return judged('namespaces', client, NAMESPACES, {}, async (namespaces) => {
        const chosen = new Set(
          namespaces.filter(({ metadata }) => matchesLabelSelector(requirements, metadata.labels)).map(({ metadata }) => metadata.name),
        );
        const labelSelector = [QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL, ORIGIN_LABEL].map((label) => `!${label}`).join();
        return unlessClosed('jobs', connection.kind.resource, async () => {
          const { objects, by } = await listWork(connection, { labelSelector });
          return [
            judgeUnlabelled(
              by.kind,
              objects.filter(({ metadata }) => chosen.has(metadata.namespace)),
            ),
          ];
        });
      });
    },
  );
};

/** Of these there is nothing to see on the manager cluster. */
const elsewhere = (): Check =>
  note(
    'alerts',
    `of these only metrics and logs tell: ${Object.keys(UNSEEN_ALERTS)
      .map((alert) => alert.replace('Switchyard', ''))
      .join(', ')}`,
    'docs/runbooks/README.md has a page for each',
  );
