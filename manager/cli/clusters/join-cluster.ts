import { LEASES, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '../../../shared/api/resources.ts';
import { leaseNamespaces, readWorkerAnnouncement, workerLeaseName } from '../../../shared/api/fence-leases.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, DEFAULT_LEASE_NAMESPACE, WORKER_CONTROLLER_NAME, WORKER_LABEL } from '../../../shared/api/names.ts';
import { clientMay } from '../../../shared/kube/access-reviews.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { ClusterCondition, WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import { areFine, checkLines, clockCheck, note, ok, versionCheck, wrong, type Check } from '../checks.ts';
import { connectWith, type ClusterChoice, type ClusterConnection } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { troubleWith } from '../trouble.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { accessObjects, askedRights, type AccessWish } from './access-rights.ts';
import { accountPolicy, ADMISSION_POLICIES, type PolicyWish } from './account-policy.ts';
import { workerKubeconfig } from './worker-kubeconfig.ts';

export type JoinConfig = ClusterChoice & {
  /** Context of the cluster that joins. */
  readonly target: string;
  readonly name: string;
  readonly 'worker-kubeconfig': string | undefined;
  readonly server: string | undefined;
  readonly 'secret-namespace': string;
  readonly 'account-namespace': string;
  readonly 'lease-namespace': string;
  readonly 'denied-namespaces': readonly string[];
  readonly 'served-namespaces': readonly string[] | undefined;
  readonly preference: number | undefined;
  readonly 'create-namespaces': boolean;
  readonly 'carry-namespaces': readonly string[] | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly 'live-logs': boolean;
  readonly 'built-in-controller': boolean;
  readonly 'token-life': number;
  readonly timeout: number;
  readonly output: Form;
};

const ACCOUNT = 'switchyard-manager-access';
const FIELD_MANAGER = 'switchyard-cli';

export const runJoin = (config: JoinConfig, session: Session): Promise<number> =>
  withCluster(config, (home) =>
    withCluster(
      { kubeconfig: config['worker-kubeconfig'] ?? config.kubeconfig, context: config.target },
      (worker) => join(config, home, worker, session),
      `the cluster of context ${config.target}`,
    ),
  );

async function join(config: JoinConfig, home: ClusterConnection, worker: ClusterConnection, session: Session): Promise<number> {
  const checks: Check[] = [];
  const told = async (code: number): Promise<number> => {
    const lines = checkLines(checks, session.output);
    await report(session, config.output, { lines, value: { cluster: config.name, joined: code === ExitCode.Done, checks } });
    return code;
  };
  // Troubles of the manager cluster are not said of the cluster that joins.
  const atHome = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw troubleWith('the manager cluster', home.server, error);
    });
  const [{ items: joined }, homeUid] = await atHome(Promise.all([home.client.list(WORKER_CLUSTERS), uidOf(home.client)]));
  // 1. Who it is, and whether it can be used at all. Nothing is written.
  checks.push(...(await looked(config, { homeUid, joined }, worker.client)));
  if (!areFine(checks)) return told(ExitCode.Failed);
  // 2. An account there, with a token of its own.
  const wish: AccessWish = {
    namespace: config['account-namespace'],
    name: ACCOUNT,
    leaseNamespaces: await leasesIn(config, worker.client),
    servedNamespaces: config['served-namespaces'] ?? [],
    createNamespaces: config['create-namespaces'],
    carryNamespaces: config['carry-namespaces'] ?? [],
    kinds: config.kinds ?? [],
    liveLogs: config['live-logs'],
  };
  const policy = { jobController: jobControllerOf(config), deniedNamespaces: config['denied-namespaces'] };
  checks.push(await grant(worker.client, wish, policy));
  const beforeMs = session.now();
  const { token, issuedMs, endsMs } = await tokenFor(worker.client, wish, config['token-life']);
  if (issuedMs !== undefined) checks.push(clockCheck('clock', issuedMs, beforeMs, session.now()));
  checks.push(ok('token', `ends ${new Date(endsMs).toISOString()}; the manager renews it before that, while it runs`));
  // 3. Whether that account may do what the manager does, asked as that account.
  const kubeconfig = await kubeconfigFor(config, worker, token);
  checks.push(await rightsCheck(kubeconfig.here, wish));
  if (!areFine(checks)) return told(ExitCode.Failed);
  // 4. The manager learns of it.
  await atHome(write(home.client, config, kubeconfig.forManager));
  if (config.timeout === 0) return told(ExitCode.Done);
  // 5. And reaches it.
  checks.push(await atHome(reachedByManager(home.client, config, session)));
  return told(areFine(checks) ? ExitCode.Done : ExitCode.Failed);
}

/** The manager cluster, and what has joined it. */
type Home = { readonly homeUid: string; readonly joined: readonly WorkerCluster[] };

async function looked(config: JoinConfig, { homeUid, joined }: Home, worker: KubeClient): Promise<Check[]> {
  const [uid, version] = await Promise.all([uidOf(worker), versionOf(worker)]);
  const other = joined.find(({ metadata, status }) => metadata.name !== config.name && status?.clusterUID === uid);
  const same = joined.find(({ metadata }) => metadata.name === config.name);
  const identity =
    uid === homeUid
      ? wrong(
          'cluster',
          `it is the manager cluster itself (kube-system ${uid})`,
          'write a WorkerCluster with local: true, and no kubeconfig',
        )
      : other !== undefined
        ? wrong(
            'cluster',
            `it has joined as ${other.metadata.name} (kube-system ${uid})`,
            `write --name ${other.metadata.name} to renew its token, or have it leave first`,
          )
        : same?.status?.clusterUID !== undefined && same.status.clusterUID !== uid
          ? wrong('cluster', `${config.name} is another cluster`, 'write another --name, or have that one leave first')
          : ok('cluster', same === undefined ? `none that has joined (kube-system ${uid})` : `the one that has joined as ${config.name}`);
  return [identity, versionCheck('version', version), await controllerCheck(config, worker)];
}

async function uidOf(client: KubeClient): Promise<string> {
  return (await client.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid;
}

async function versionOf(client: KubeClient): Promise<string> {
  const { gitVersion } = JSON.parse(await client.raw({ method: 'GET', path: '/version' })) as { gitVersion?: unknown };
  return typeof gitVersion === 'string' ? gitVersion : 'unknown';
}

/** Workers that have announced themselves there, against what the WorkerCluster is to say of who runs the copies. */
async function controllerCheck(config: JoinConfig, worker: KubeClient): Promise<Check> {
  const namespace = config['lease-namespace'];
  const jobController = jobControllerOf(config);
  const announced = await announcedIn(worker, leaseNamespaces(namespace));
  const own = announced.find(({ controllerName }) => controllerName === jobController);
  if (own !== undefined)
    return ok(
      'controller',
      `the worker ${own.version} has announced itself${config['built-in-controller'] ? ' in place of the built-in Job controller' : ''}`,
    );
  if (config['built-in-controller']) return note('controller', 'the built-in Job controller runs the copies: there is no fencing');
  const [other] = announced;
  if (other !== undefined)
    return wrong(
      'controller',
      `the worker ${other.version} there runs the Jobs of ${other.controllerName}, and would run no copy`,
      `${other.controllerName === BUILT_IN_JOB_CONTROLLER_NAME ? 'write --built-in-controller, or ' : ''}install it with config.controllerName=${WORKER_CONTROLLER_NAME}; delete Lease ${other.lease} if that worker is gone`,
    );
  return note(
    'controller',
    `no worker has announced itself in Lease ${namespace}/${workerLeaseName(WORKER_CONTROLLER_NAME)}`,
    'helm install switchyard-worker there: without a worker the cluster is not ready; look at --lease-namespace if it is installed',
  );
}

const jobControllerOf = (config: JoinConfig): string =>
  config['built-in-controller'] ? BUILT_IN_JOB_CONTROLLER_NAME : WORKER_CONTROLLER_NAME;

/** Workers that say in a Lease in these namespaces that they are there, the first namespace first. */
async function announcedIn(worker: KubeClient, namespaces: readonly string[]) {
  const lists = await Promise.all(namespaces.map((namespace) => worker.list(LEASES, { namespace, labelSelector: WORKER_LABEL })));
  return lists.flatMap(({ items }) =>
    items.flatMap((lease) => {
      const said = readWorkerAnnouncement(lease);
      const { namespace, name } = lease.metadata;
      return said === undefined ? [] : [{ namespace, lease: `${namespace}/${name}`, ...said }];
    }),
  );
}

/** Where the manager keeps Leases: also where a worker of an earlier release does, until it is upgraded. */
async function leasesIn(config: JoinConfig, worker: KubeClient): Promise<readonly string[]> {
  const namespace = config['lease-namespace'];
  const announced = await announcedIn(worker, leaseNamespaces(namespace));
  return [...new Set([namespace, ...announced.map((each) => each.namespace)])];
}

/** Server-side apply: what is there already is brought up to date. */
async function grant(client: KubeClient, wish: AccessWish, held: Pick<PolicyWish, 'jobController' | 'deniedNamespaces'>): Promise<Check> {
  const [leases = wish.namespace] = wish.leaseNamespaces;
  for (const name of new Set([wish.namespace, leases])) {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await client.patch(NAMESPACES, { namespace: '', name }, { type: 'apply', body, force: true }, { fieldManager: FIELD_MANAGER });
  }
  const hasPolicies = await servesPolicies(client);
  const policy = hasPolicies ? accountPolicy({ ...wish, ...held }) : [];
  // Before the account may do anything.
  for (const { resource, object } of [...policy, ...accessObjects(wish)]) {
    const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
    await client.patch(resource, key, { type: 'apply', body: object, force: true }, { fieldManager: FIELD_MANAGER });
  }
  return hasPolicies
    ? ok('policy', `ValidatingAdmissionPolicy ${wish.name} holds the account to copies, and to Leases of managers`)
    : note(
        'policy',
        'its API server has no ValidatingAdmissionPolicies: the account may write all Jobs where it works',
        'Kubernetes 1.30 or later has them; join again after an upgrade',
      );
}

async function servesPolicies(client: KubeClient): Promise<boolean> {
  const { group, version, plural } = ADMISSION_POLICIES;
  try {
    const { resources } = JSON.parse(await client.raw({ method: 'GET', path: `/apis/${group}/${version}` })) as { resources?: unknown };
    return Array.isArray(resources) && resources.some(({ name }: { name?: unknown }) => name === plural);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}

type Token = { readonly token: string; readonly issuedMs: number | undefined; readonly endsMs: number };

async function tokenFor(client: KubeClient, { namespace, name }: AccessWish, lifeMs: number): Promise<Token> {
  const answer = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/${SERVICE_ACCOUNTS.plural}/${name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: Math.max(600, Math.round(lifeMs / 1000)) },
    },
  });
  const { status } = JSON.parse(answer) as { status: { token: string; expirationTimestamp: string } };
  return { token: status.token, issuedMs: issuedAt(status.token), endsMs: Date.parse(status.expirationTimestamp) };
}

/** `iat` of a JSON Web Token: what time it is there. */
function issuedAt(token: string): number | undefined {
  try {
    const { iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { iat?: unknown };
    return typeof iat === 'number' ? iat * 1000 : undefined;
  } catch {
    return undefined; // a token of another kind: nothing is said of its clock
  }
}

/** As this machine reaches the cluster, and as the manager does. Throws CommandError where the manager could not trust it. */
async function kubeconfigFor(
  config: JoinConfig,
  worker: ClusterConnection,
  token: string,
): Promise<{ readonly here: string; readonly forManager: string }> {
  const { tls } = await worker.credentials();
  if (tls.rejectUnauthorized === false)
    throw new CommandError(
      `context ${config.target}: insecure-skip-tls-verify is set, and the manager trusts no server like that; write the certificate of its authority into certificate-authority-data`,
    );
  const caPem = tls.ca === undefined ? undefined : [tls.ca].flat().map(String).join('\n');
  const tlsServerName = typeof tls.servername === 'string' && tls.servername !== '' ? tls.servername : undefined;
  const forServer = (server: string): string => workerKubeconfig({ server, caPem, tlsServerName, token });
  return { here: forServer(worker.server), forManager: forServer(config.server ?? worker.server) };
}

async function rightsCheck(kubeconfig: string, wish: AccessWish): Promise<Check> {
  const { client } = connectWith({ kind: 'text', yaml: kubeconfig });
  try {
    const missing: string[] = [];
    const rights = askedRights(wish);
    for (const { group, resource, subresource, verb, namespace, name } of rights) {
      const resourceAttributes = {
        group,
        resource,
        verb,
        namespace,
        ...(subresource === undefined ? {} : { subresource }),
        ...(name === undefined ? {} : { name }),
      };
      if (!(await clientMay(client, { resourceAttributes })))
        missing.push(
          `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}${namespace === '' ? '' : ` in ${namespace}`}`,
        );
    }
    return missing.length === 0
      ? ok('rights', `the account ${wish.namespace}/${wish.name} may do all of ${rights.length} things that the manager does`)
      : wrong(
          'rights',
          `the account ${wish.namespace}/${wish.name} may not ${missing.join(', ')}`,
          'look for an authorizer there beside RBAC',
        );
  } finally {
    await client.close();
  }
}

async function write(home: KubeClient, config: JoinConfig, kubeconfig: string): Promise<void> {
  const secret = { namespace: config['secret-namespace'], name: `${config.name}-kubeconfig` };
  const apply = { type: 'apply', force: true } as const;
  await home.patch(
    SECRETS,
    secret,
    {
      ...apply,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: secret, data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') } },
    },
    { fieldManager: FIELD_MANAGER },
  );
  const spec = {
    kubeconfigSecretRef: secret,
    ...(config['served-namespaces'] === undefined ? {} : { servedNamespaces: config['served-namespaces'] }),
    ...(config.preference === undefined ? {} : { preference: config.preference }),
    ...(config['create-namespaces'] ? { namespaces: 'Create' } : {}),
    ...(config['built-in-controller'] ? { jobController: BUILT_IN_JOB_CONTROLLER_NAME } : {}),
    ...(config['lease-namespace'] === DEFAULT_LEASE_NAMESPACE ? {} : { leaseNamespace: config['lease-namespace'] }),
  };
  const body = { apiVersion: 'switchyard.dev/v1alpha1', kind: 'WorkerCluster', metadata: { name: config.name }, spec };
  await home.patch(WORKER_CLUSTERS, { namespace: '', name: config.name }, { ...apply, body }, { fieldManager: FIELD_MANAGER });
}

/** The last word of the manager, as far as it comes in time. */
async function reachedByManager(home: KubeClient, config: JoinConfig, session: Session): Promise<Check> {
  let last = 'the manager has said nothing of it';
  try {
    const code = await waitingFor({ session, timeoutMs: config.timeout, what: last }, (signal, done) =>
      followObjects(
        home,
        { resource: WORKER_CLUSTERS, fieldSelector: `metadata.name=${config.name}` },
        async ({ status }) => {
          const ready = findCondition(status?.conditions, ClusterCondition.Ready);
          if (ready !== undefined) last = `${ready.reason}: ${ready.message}`;
          if (ready?.status === 'True') done();
        },
        signal,
      ),
    );
    if (code === ExitCode.Done) return ok('manager', 'it reaches the cluster, and places Jobs there');
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  return wrong(
    'manager',
    `it places no Jobs there yet: ${last}`,
    `kubectl describe workercluster ${config.name}; if the manager needs another address than this machine, write --server`,
  );
}
