import type { Transport } from '../kube/transport.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import type { Admission } from './admission/admission-request.ts';
import type { ClusterNetwork } from './admission/webhook/webhooks.ts';
import {
  createAdmissionChain,
  createNamespaceLifecycle,
  createReinvokingAdmission,
  createTerminatingResourceGuard,
} from './admission/admission-chain.ts';
import { type ApiServer, createApiServer } from './server/api-server.ts';
import { createAuthenticator } from './auth/authenticator.ts';
import { type BoundObjects, createServiceAccountTokens } from './auth/service-account-tokens.ts';
import { bootstrap } from './bootstrap.ts';
import type { UserInfo } from './auth/user-info.ts';
import { type ControllersOptions, startControllers } from './controllers/controller-processes.ts';
import { CRD_RESOURCE } from './crd/crd-strategy.ts';
import { serveCustomResources } from './crd/custom-resources.ts';
import { createDocuments } from './discovery/documents.ts';
import { createFaults, type Faults } from './server/faults.ts';
import { type HttpServer, listenHttp } from './server/http-server.ts';
import { expireEvents } from './storage/event-expiry.ts';
import { createGuards, GUARD_RESOURCES, type Guards } from './guards.ts';
import { createInProcessTransport } from './server/in-process-transport.ts';
import { createLimitRanger } from './admission/limit-ranger.ts';
import { createPodAdmission } from './admission/pod-admission.ts';
import { createRuntimeClassAdmission } from './admission/runtime-class-admission.ts';
import { createQuotaAdmission } from './admission/quota-admission.ts';
import { kubeconfigFor, newToken, rememberedToken } from './server/kubeconfig-file.ts';
import { BUILT_IN_RESOURCES } from './kinds/built-in-resources.ts';
import { namespaceFinalizeSubresource } from './subresources/namespace-finalize.ts';
import { openSqlitePersistence, type Persistence } from './storage/persistence.ts';
import { createPodLogs, podLogSubresource } from './subresources/pod-log.ts';
import { podSubresources } from './subresources/pod-subresources.ts';
import { createRegistry } from './registry/registry.ts';
import { createRouter } from './endpoints/router.ts';
import { builtInSchema } from './schema/builtin.ts';
import type { ObjectSchema } from './schema/schema.ts';
import { scaleSubresource } from './subresources/scale-subresource.ts';
import { createServingCertificate, rememberedCertificate } from './server/serving-certificate.ts';
import { createServerMetrics } from './server/server-metrics.ts';
import { createServedResources, type ServedResource, type ServedResources } from './resources/served-resources.ts';
import { tokenSubresource } from './subresources/service-account-token.ts';
import { createStore, type Store } from './storage/store.ts';
import type { AnyObject } from './apimachinery/object.ts';
import type { ResourceDefinition } from './resources/strategy.ts';

export type ControlPlaneOptions = ControllersOptions & {
  /** Keeps all objects in this directory over restarts; absent: in memory only. */
  readonly dataDir?: string;
  /** Where objects are kept instead of in `dataDir`: whoever holds it can start another control plane from it, or from what it was once. */
  readonly persistence?: Persistence;
  /** How Services are reached, which webhooks may name; absent: none is. */
  readonly clusterNetwork?: ClusterNetwork;
};

export type ListenOptions = {
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  /** Without TLS. Then kubectl sends no token and is nobody, as client-go keeps tokens off plain connections. */
  readonly plain?: boolean;
  /** PEM. Clients with a certificate signed by it are who it says: CN is the user, O are the groups. */
  readonly clientCaPem?: string;
};

/**
 * A small Kubernetes API server in this process. Built apart from listening: without `listen` it serves
 * through `transport`, without any socket, and with a fake clock it is fully deterministic.
 */
export interface ControlPlane {
  /** Direct calls, no sockets; as a member of system:masters unless `user` is given. */
  transport(user?: UserInfo): Transport;
  /** Serves HTTP on a port. Returns the URL, and a kubeconfig (YAML) whose user is a member of system:masters. */
  listen(options?: ListenOptions): Promise<{ readonly url: string; readonly kubeconfig: string }>;
  /** Makes things go wrong on purpose, for requests that come through `transport` and through `listen` alike. */
  readonly faults: Faults;
  /** Stops controllers and sockets; with a data directory everything acknowledged is on disk. */
  close(): Promise<void>;
}

export async function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { clock, random, log, dataDir } = options;
  const persistence = options.persistence ?? (dataDir === undefined ? undefined : openSqlitePersistence(dataDir));
  const store = createStore({ clock, ...omitUndefined({ persistence }) });
  const resources = createServedResources(store);
  for (const definition of BUILT_IN) resources.add(definition, schemaOf(definition), false);
  const token = dataDir === undefined ? newToken() : rememberedToken(dataDir);
  // Whoever holds the administrator's token may do everything anyway, so it may be the key as well.
  const boundObjects: BoundObjects = (plural, namespace, name) => store.table(`/${plural}`).get(namespace, name)?.object;
  const tokens = createServiceAccountTokens(token, clock, boundObjects);
  const authenticator = createAuthenticator(new Map([[token, ADMIN]]), clock, tokens);
  const guards = createGuards({
    store,
    resources,
    authenticator,
    clock,
    random,
    log,
    ...omitUndefined({ clusterNetwork: options.clusterNetwork }),
  });
  const admission = createReinvokingAdmission(createAdmissionChain(admissionPlugins(store, resources, guards)));
  const registry = createRegistry({ clock, random, admission });
  const podLogs = createPodLogs();
  const handlers = { store, clock, random, registry, resources, admission, authorizer: guards.authorizer };
  const crds = served(resources, CRD_RESOURCE);
  const customResources = serveCustomResources({ ...handlers, log }, crds);
  const subresources = [
    ...podSubresources({ ...handlers, pods: served(resources, { group: '', plural: 'pods' }) }),
    podLogSubresource(registry, podLogs, {
      pods: served(resources, { group: '', plural: 'pods' }),
      nodes: served(resources, { group: '', plural: 'nodes' }),
    }),
    namespaceFinalizeSubresource(handlers, served(resources, { group: '', plural: 'namespaces' })),
    tokenSubresource({ ...handlers, tokens, boundObjects }, served(resources, { group: '', plural: 'serviceaccounts' })),
    scaleSubresource({ ...handlers, customResources }),
    ...guards.subresources,
  ];
  const metrics = createServerMetrics(store, resources, clock);
  const route = createRouter({ ...handlers, subresources, document: createDocuments(resources, subresources, metrics.registry) });
  const faults = createFaults(clock, random);
  const api = createApiServer({ store, authenticator, authorizer: guards.authorizer, route, faults, metrics, log });
  await bootstrap(resources, registry);
  await guards.createDefaults(registry);
  // As on any cluster of some age, the first revisions are no longer there to watch from.
  await store.settled();
  store.compact();

  const servers: HttpServer[] = [];
  const transports: Transport[] = [];
  const transport = (user: UserInfo = ADMIN): Transport => {
    const opened = createInProcessTransport(api, user);
    transports.push(opened);
    return opened;
  };
  const stopExpiry = expireEvents(store.table('/events'), clock);
  const controllers = startControllers(options, transport(CONTROLLERS_USER), podLogs);
  return {
    transport,
    faults,
    listen: async (how = {}) => {
      const { server, kubeconfig } = await listen(api, token, dataDir, how);
      servers.push(server);
      return { url: server.url, kubeconfig };
    },
    close: async () => {
      await controllers.stop();
      stopExpiry();
      customResources.stop();
      await Promise.all([...transports, ...servers].map((each) => each.close()));
      await guards.close();
      await store.close();
    },
  };
}

async function listen(
  api: ApiServer,
  token: string,
  dataDir: string | undefined,
  { host = '127.0.0.1', port = 0, plain = false, clientCaPem }: ListenOptions,
): Promise<{ readonly server: HttpServer; readonly kubeconfig: string }> {
  const certificate = plain
    ? undefined
    : await (dataDir === undefined ? createServingCertificate(host) : rememberedCertificate(dataDir, host));
  const server = await listenHttp(api, {
    host,
    port,
    ...omitUndefined({ certificate, clientCaPem }),
  });
  const { url } = server;
  return { server, kubeconfig: kubeconfigFor({ url, ...(certificate === undefined ? {} : { caPem: certificate.certPem }) }, token) };
}

/** The user of the kubeconfig and of direct calls. */
const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** Who the controllers beside the API are. */
const CONTROLLERS_USER: UserInfo = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] };

const BUILT_IN: readonly ResourceDefinition[] = [...BUILT_IN_RESOURCES, CRD_RESOURCE, ...GUARD_RESOURCES];

const served = (resources: ServedResources, { group, plural }: { readonly group: string; readonly plural: string }): ServedResource => {
  const resource = resources.find(group, 'v1', plural);
  if (resource === undefined) throw new Error(`${plural} are not served`);
  return resource;
};

/** The plugins in upstream's order: what the server itself demands, then webhooks, then quota. */
function admissionPlugins(store: Store, resources: ServedResources, guards: Guards): Admission[] {
  const object = (table: string, namespace: string, name: string): AnyObject | undefined => store.table(table).get(namespace, name)?.object;
  return [
    createTerminatingResourceGuard(resources),
    createNamespaceLifecycle((name) => object('/namespaces', '', name), resources),
    createLimitRanger((namespace) =>
      store
        .table('/limitranges')
        .list(namespace)
        .map((stored) => stored.object),
    ),
    createPodAdmission({
      priorityClass: (name) => object('scheduling.k8s.io/priorityclasses', '', name),
      priorityClasses: () =>
        store
          .table('scheduling.k8s.io/priorityclasses')
          .list('')
          .map((stored) => stored.object),
    }),
    createRuntimeClassAdmission((name) => object('node.k8s.io/runtimeclasses', '', name)),
    guards.admission,
    createQuotaAdmission({
      quotas: (namespace) =>
        store
          .table('/resourcequotas')
          .list(namespace)
          .map((stored) => stored.object),
      objects: ({ group, resource }, namespace) =>
        store
          .table(`${group}/${resource}`)
          .list(namespace)
          .map((stored) => stored.object),
      store: (quota) => store.table('/resourcequotas').put({ ...quota, metadata: { ...quota.metadata } }),
    }),
  ];
}

const schemaOf = ({ group, version, kind }: ResourceDefinition): ObjectSchema => {
  const schema = builtInSchema(group, version, kind);
  if (schema === undefined) throw new Error(`no schema for ${group}/${version} ${kind}`);
  return schema;
};
