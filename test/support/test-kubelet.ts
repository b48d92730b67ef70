/**
 * Runs the programs of Deployments as they say it, where there is neither a container engine nor a Deployment controller: each in a root
 * file system of its own (chroot), as the user that the pod asks for, with the pod's command line, environment, volumes and ServiceAccount.
 * What is not as on a cluster: ports are those that are free on this machine, programs listen on a loopback address, a manager may connect
 * to such addresses, and of the replicas of a Deployment one runs.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { ClusterNetwork } from '../../shared/controlplane/admission/webhook/webhooks.ts';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { ChildProgram } from './child-program.ts';
import type { Image } from './image-root.ts';

export const DEPLOYMENTS: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
export const SERVICES: Resource<Service> = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const POLL_MS = 50;
/** timeoutSeconds of the charts' probes. */
const PROBE_TIMEOUT_MS = 5_000;

type Deployment = KubeObject & {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate };
  readonly status?: { readonly observedGeneration?: number };
};
type PodTemplate = { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> }; readonly spec: PodSpec };
type PodSpec = {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: SecurityContext;
  readonly containers: readonly [Container, ...Container[]];
  readonly volumes?: readonly Volume[];
};
type SecurityContext = { readonly runAsUser?: number; readonly runAsGroup?: number };
type Container = {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly readinessProbe?: { readonly httpGet?: { readonly path: string; readonly port: string | number; readonly scheme?: string } };
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
};
type EnvironmentVariable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string };
  };
};
type Named = { readonly name?: string; readonly secretName?: string; readonly optional?: boolean; readonly items?: readonly Item[] };
type Item = { readonly key: string; readonly path: string };
type Source = {
  readonly secret?: Named;
  readonly configMap?: Named;
  readonly serviceAccountToken?: { readonly path: string; readonly audience?: string };
  readonly downwardAPI?: { readonly items?: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[] };
};
type Volume = Source & {
  readonly name: string;
  readonly emptyDir?: object;
  readonly persistentVolumeClaim?: object;
  readonly projected?: { readonly sources: readonly Source[] };
};
type Service = KubeObject & {
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort?: string | number; readonly name?: string }[];
  };
};

/** A cluster on which Deployments are run. */
export type ClusterAtHand = {
  readonly client: KubeClient;
  /** https://127.0.0.1:PORT */
  readonly url: string;
  readonly caPem: string;
};

export type RunningPod = {
  readonly program: ChildProgram;
  /** What it has printed, the last thousand lines. */
  readonly lines: readonly string[];
  /** `127.0.0.1:PORT` of a port, by its name. */
  address(port: string): string;
  /** Until its readiness probe is content. */
  ready(): Promise<void>;
  isReady(): Promise<boolean>;
};

export class TestKubelet implements AsyncDisposable {
  readonly #image: Image;
  #cluster: ClusterAtHand | undefined;
  /** By namespace/name of the Deployment. */
  readonly #pods = new Map<string, { readonly pod: RunningPod; readonly template: string }>();
  #started = 0;
  #stopping = false;
  #following: Promise<void> | undefined;
  /** What went wrong last. */
  problem: unknown;
  /** By namespace/name:port of a Service. */
  readonly #endpoints = new Map<string, string>();

  constructor(image: Image) {
    this.#image = image;
  }

  /** For the control plane of the cluster, which is started before its kubelet can know it. */
  readonly network: ClusterNetwork = ({ namespace, name, port }) => this.#endpoints.get(`${namespace}/${name}:${port}`);

  attach(cluster: ClusterAtHand): void {
    this.#cluster = cluster;
  }

  /** From now on runs what Deployments there say, and tells their status, so that `kubectl rollout status` ends. */
  follow(): void {
    this.#following ??= this.#follow();
  }

  /** What runs of a Deployment. */
  podOf(namespace: string, name: string): RunningPod | undefined {
    return this.#pods.get(`${namespace}/${name}`)?.pod;
  }

  /** All that run. */
  pods(): readonly RunningPod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  /** Starts the pod of a Deployment as it stands there now, and stops the one that ran before it. Resolves when the new one is ready. */
  async roll(namespace: string, name: string): Promise<RunningPod> {
    const pod = await this.#roll(await this.#at().client.get(DEPLOYMENTS, { namespace, name }));
    await pod.ready();
    return pod;
  }

  async stop(namespace: string, name: string): Promise<void> {
    const running = this.#pods.get(`${namespace}/${name}`);
    this.#pods.delete(`${namespace}/${name}`);
    await running?.pod.program.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#following;
    await Promise.all([...this.#pods.values()].map(({ pod }) => pod.program.stop()));
  }

  async #follow(): Promise<void> {
    while (!this.#stopping) {
      try {
        const { items } = await this.#at().client.list(DEPLOYMENTS);
        for (const deployment of items) await this.#runAsTold(deployment);
        const wanted = new Set(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
        for (const key of this.#pods.keys()) if (!wanted.has(key)) await this.stop(...(key.split('/') as [string, string]));
      } catch (error) {
        // Its API server may be stopped and restored; what a kubelet could not do it does when it is there again. The last one is for a
        // test that fails.
        this.problem = error;
      }
      await sleep(systemClock, POLL_MS);
    }
  }

  async #runAsTold(deployment: Deployment): Promise<void> {
    const { metadata, spec, status } = deployment;
    const namespace = metadata.namespace ?? '';
    const running = this.#pods.get(`${namespace}/${metadata.name}`);
    const replicas = spec.replicas ?? 1;
    if (replicas === 0) await this.stop(namespace, metadata.name);
    else if (running?.template !== JSON.stringify(spec.template) || running.pod.program.hasEnded()) {
      // A volume whose Secret is missing has it wait, as on a cluster.
      await this.#roll(deployment);
      return;
    } else if (status?.observedGeneration !== metadata.generation && !(await running.pod.isReady())) return;
    if (status?.observedGeneration === metadata.generation) return;
    const told = {
      observedGeneration: metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    };
    const key = { namespace, name: metadata.name };
    await this.#at().client.patchStatus(DEPLOYMENTS, key, { type: 'merge', body: { status: told } });
  }

  async #roll({ metadata, spec }: Deployment): Promise<RunningPod> {
    const namespace = metadata.namespace ?? '';
    await this.stop(namespace, metadata.name);
    const pod = await this.#start(namespace, `${metadata.name}-${++this.#started}`, spec.template);
    this.#pods.set(`${namespace}/${metadata.name}`, { pod, template: JSON.stringify(spec.template) });
    await this.#publish(namespace, spec.template, pod);
    return pod;
  }

  #at(): ClusterAtHand {
    if (this.#cluster === undefined) throw new Error('the kubelet has no cluster yet');
    return this.#cluster;
  }

  async #start(namespace: string, podName: string, { spec }: PodTemplate): Promise<RunningPod> {
    const [container] = spec.containers;
    const user = { ...spec.securityContext, ...container.securityContext };
    const uid = user.runAsUser ?? this.#image.user.uid;
    const gid = user.runAsGroup ?? this.#image.user.gid;
    const root = this.#image.newRoot();
    const fields: Readonly<Record<string, string>> = {
      'metadata.name': podName,
      'metadata.namespace': namespace,
      'status.podIP': '127.0.0.1',
      'spec.serviceAccountName': spec.serviceAccountName ?? 'default',
    };
    const ports = new Map<number, number>();
    for (const { containerPort } of container.ports ?? []) ports.set(containerPort, await freePort());
    const here = (text: string): string => onThisMachine(text, ports);
    const at = { namespace, account: spec.serviceAccountName ?? 'default', fields, here };
    for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
      const volume = spec.volumes?.find((each) => each.name === name);
      if (volume === undefined) throw new Error(`pod ${podName} mounts ${name}, which is no volume of it`);
      const directory = path.join(root, mountPath);
      if (volume.emptyDir !== undefined || volume.persistentVolumeClaim !== undefined) {
        mkdirSync(directory, { recursive: true });
        chownSync(directory, uid, gid);
        continue;
      }
      const files = await this.#filesOf(volume, at);
      if (subPath === undefined) for (const [file, content] of files) write(path.join(directory, file), content);
      else write(directory, files.get(subPath) ?? '');
    }
    if (spec.automountServiceAccountToken !== false)
      for (const [file, content] of await this.#accountFiles(at)) write(path.join(root, SERVICE_ACCOUNT_DIRECTORY, file), content);
    const environment = await this.#environmentOf(container, at);
    const command = [...(container.command ?? []), ...(container.args ?? [])].map(here);
    const program = new ChildProgram(podName, [...this.#image.enter(root, uid, gid), ...command], environment, { inherit: false });
    const lines: string[] = [];
    program.onLine((line) => {
      lines.push(line);
      if (lines.length > 1000) lines.shift();
    });
    const address = (port: string | number): string => {
      const number = container.ports?.find((each) => each.name === port)?.containerPort ?? Number(port);
      return `127.0.0.1:${ports.get(number) ?? number}`;
    };
    const isReady = (): Promise<boolean> => isContent(container, address);
    return { program, lines, address, isReady, ready: () => untilReady(isReady, program) };
  }

  async #filesOf(volume: Volume, at: PodPlace): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    for (const source of volume.projected?.sources ?? [volume])
      for (const [file, content] of await this.#filesOfSource(source, at)) files.set(file, content);
    return files;
  }

  async #filesOfSource(source: Source, at: PodPlace): Promise<[string, string][]> {
    if (source.serviceAccountToken !== undefined) return [[source.serviceAccountToken.path, await this.#tokenOf(at)]];
    if (source.downwardAPI !== undefined)
      return (source.downwardAPI.items ?? []).map((item) => [item.path, at.fields[item.fieldRef.fieldPath] ?? '']);
    const named = source.secret ?? source.configMap;
    if (named === undefined) throw new Error(`a volume of a kind that is not known here: ${JSON.stringify(source)}`);
    const data = await this.#dataOf(source.secret === undefined ? 'configMap' : 'secret', named, at);
    const entries = Object.entries(data);
    if (named.items === undefined) return entries;
    return named.items.map(({ key, path: file }) => [file, data[key] ?? '']);
  }

  async #dataOf(kind: 'secret' | 'configMap', { name, secretName, optional }: Named, at: PodPlace): Promise<Record<string, string>> {
    const key = { namespace: at.namespace, name: secretName ?? name ?? '' };
    // Every namespace of a real cluster has it.
    if (kind === 'configMap' && key.name === 'kube-root-ca.crt') return { 'ca.crt': this.#at().caPem };
    try {
      if (kind === 'configMap') {
        const { data = {} } = await this.#at().client.get(CONFIG_MAPS, key);
        return Object.fromEntries(Object.entries(data).map(([file, text]) => [file, at.here(text)]));
      }
      const { data = {} } = await this.#at().client.get(SECRETS, key);
      return Object.fromEntries(Object.entries(data).map(([file, text]) => [file, Buffer.from(text, 'base64').toString()]));
    } catch (error) {
      if (optional === true && isNotFound(error)) return {};
      throw error;
    }
  }

  async #accountFiles(at: PodPlace): Promise<[string, string][]> {
    return [
      ['token', await this.#tokenOf(at)],
      ['ca.crt', this.#at().caPem],
      ['namespace', at.namespace],
    ];
  }

  async #tokenOf({ namespace, account }: PodPlace): Promise<string> {
    const answer = await this.#at().client.raw({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
    });
    return (JSON.parse(answer) as { status: { token: string } }).status.token;
  }

  async #environmentOf({ env = [] }: Container, at: PodPlace): Promise<Record<string, string>> {
    const { hostname, port } = new URL(this.#at().url);
    const values: Record<string, string> = {
      PATH: '/usr/local/bin',
      ...this.#image.environment,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    };
    for (const { name, value, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef;
      if (secret !== undefined) values[name] = (await this.#dataOf('secret', secret, at))[secret.key] ?? '';
      else values[name] = at.here(value ?? at.fields[valueFrom?.fieldRef?.fieldPath ?? ''] ?? '');
    }
    return values;
  }

  /** What the endpoints controller and kube-proxy do. */
  async #publish(namespace: string, { metadata, spec }: PodTemplate, pod: RunningPod): Promise<void> {
    const labels = metadata?.labels ?? {};
    for (const service of (await this.#at().client.list(SERVICES, { namespace })).items) {
      const selector = Object.entries(service.spec.selector ?? {});
      if (selector.length === 0 || !selector.every(([key, value]) => labels[key] === value)) continue;
      for (const { port, targetPort = port } of service.spec.ports) {
        const target = spec.containers[0].ports?.find((each) => each.name === targetPort || each.containerPort === targetPort);
        if (target !== undefined)
          this.#endpoints.set(`${namespace}/${service.metadata.name}:${port}`, pod.address(target.name ?? String(target.containerPort)));
      }
    }
  }
}

type PodPlace = {
  readonly namespace: string;
  readonly account: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly here: (text: string) => string;
};

/** Ports that are free, on a loopback address, which the manager is not told to deny. */
const onThisMachine = (text: string, ports: ReadonlyMap<number, number>): string =>
  text
    .replace(/(?:0\.0\.0\.0|\[::\]):(\d+)/g, (whole, port: string) => {
      const free = ports.get(Number(port));
      return free === undefined ? whole : `127.0.0.1:${free}`;
    })
    .replace(/,?127\.0\.0\.0\/8/, '');

function write(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, 0o644);
}

async function untilReady(isReady: () => Promise<boolean>, program: ChildProgram): Promise<void> {
  const poll = async (): Promise<void> => {
    while (!(await isReady())) await sleep(systemClock, POLL_MS);
  };
  await Promise.race([poll(), program.failsWhenEnded()]);
}

async function isContent({ readinessProbe }: Container, address: (port: string | number) => string): Promise<boolean> {
  const probe = readinessProbe?.httpGet;
  if (probe === undefined) return true;
  try {
    const url = `${(probe.scheme ?? 'HTTP').toLowerCase()}://${address(probe.port)}${probe.path}`;
    return (await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).ok;
  } catch {
    return false; // nobody listens there yet, or answers in time
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
