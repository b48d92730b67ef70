import type { Container, DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import { CONFIG_MAPS, PODS, SECRETS } from '../../../api/resources.ts';
import { ApiError, isNotFound } from '../../../kube/api-error.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { objectKey } from '../../../kube/keys.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import { aborted } from '../../../runtime/tasks.ts';
import { type ContainerCommand, referencedConfig, resolveCommand } from './container-environment.ts';
import type { ContainerExit, ContainerRuntime, RunningContainer } from './container-runtime.ts';
import { DEADLINE_EXCEEDED, newRecord, NOT_LOCATED, type RestartPolicy, restartPolicyOf, restoreEnded } from './pod-record.ts';
import type { ContainerRecord, PodRecord } from './pod-status.ts';
import { isAsked, type Probe, watchProbe } from './probes.ts';
import { StatusWriter } from './status-writer.ts';

export type PodWorkerDeps = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of the kubelet of its node. */
  readonly recorder: EventRecorder;
  readonly runtime: ContainerRuntime;
  readonly podIp: string;
  readonly hostIp: string;
};

/** kubelet's pauses between restarts of a container: none before the first, then 10 s, doubling. */
const RESTART_BASE_MS = 10_000;

const RESTART_MAX_MS = 300_000;

/** A container that ran this long starts with short pauses again. */
const RESTART_FORGIVEN_MS = 600_000;

const CONFIG_RETRY_MS = 2000;

const GRACE_SECONDS = 30;

/** The life of one pod on its node: init containers, containers, restarts, and its end. */
export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #pod: DeepReadonly<Pod>;
  /** The same as the API server shows it now: what its volumes show. */
  #shown: DeepReadonly<Pod>;
  readonly #record: PodRecord;
  readonly #status: StatusWriter;
  readonly #running = new Map<ContainerRecord, RunningContainer>();
  /** Those that were told to end, so that users hear of it once. */
  readonly #killed = new Set<RunningContainer>();
  /** Aborts when nothing of the pod may start any more. */
  readonly #stopping = new AbortController();
  /** Aborts when the main containers have ended, or nothing may start any more: sidecars end then. */
  readonly #mainEnded = new AbortController();
  /** Sidecars that have started once, for which the containers after them wait. */
  readonly #sidecarsStarted = new Map<ContainerRecord, PromiseWithResolvers<void>>();
  #deleting = false;
  #resumed = false;
  #deadlineExceeded = false;

  constructor(deps: PodWorkerDeps, pod: DeepReadonly<Pod>) {
    this.#deps = deps;
    this.#pod = pod;
    this.#shown = pod;
    this.#record = {
      init: (pod.spec.initContainers ?? []).map((container) => newRecord(container, 'PodInitializing')),
      main: pod.spec.containers.map((container) =>
        newRecord(container, pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating'),
      ),
      initialized: (pod.spec.initContainers ?? []).length === 0,
      outcome: undefined,
      startedAtMs: pod.status?.startTime === undefined ? deps.clock.now() : Date.parse(pod.status.startTime),
      podIp: deps.podIp,
      hostIp: deps.hostIp,
    };
    this.#status = new StatusWriter(deps, pod, this.#record);
  }

  /** Runs the pod to its end. Resolves when its final status is written and, if it was deleted, the pod removed. */
  async run(): Promise<void> {
    const deadline = this.#watchDeadline();
    const sidecars: Promise<void>[] = [];
    if (this.#resumed || (await this.#runInit(sidecars))) {
      this.#record.initialized = true;
      const policy = restartPolicyOf(this.#pod);
      await Promise.all(this.#record.main.map((record, index) => this.#runContainer(record, this.#pod.spec.containers[index], policy)));
    }
    deadline?.cancel();
    this.#mainEnded.abort();
    this.#kill(this.#graceMs());
    await Promise.all(sidecars);
    this.#conclude();
    this.#status.changed();
    if ((await this.#status.settled()) && this.#deleting) await this.#remove();
  }

  /**
   * A pod found running without its processes, after this program was down: whatever ran is lost. Where the restart
   * policy allows it is started again, otherwise the pod has failed.
   */
  static resume(deps: PodWorkerDeps, pod: DeepReadonly<Pod>): PodWorker {
    const worker = new PodWorker(deps, pod);
    const { init, main } = worker.#record;
    for (const record of init) restoreEnded(record, pod.status?.initContainerStatuses);
    for (const record of main) restoreEnded(record, pod.status?.containerStatuses);
    worker.#record.initialized = true;
    worker.#resumed = true;
    if (restartPolicyOf(pod) === 'Never') worker.#stopping.abort();
    return worker;
  }

  /** Whether this run of a container still runs; the first is 0. */
  isRunning(container: string, run: number): boolean {
    return [...this.#running.keys()].some(({ name, restarts }) => name === container && restarts === run);
  }

  /** The pod is being deleted: stop it within the grace period. Called again when the period shrinks. */
  delete(gracePeriodSeconds: number): void {
    this.#deleting = true;
    this.#forbidStarts();
    this.#kill(gracePeriodSeconds * 1000);
  }

  /** The pod is another one, as far as its volumes show. */
  update(pod: DeepReadonly<Pod>): void {
    this.#shown = pod;
    this.#deps.runtime.podChanged(pod);
  }

  /** The pod is gone from the API, or the node is: end everything now. */
  abandon(): void {
    this.#status.stop();
    this.#forbidStarts();
    for (const container of this.#running.values()) container.stop(0);
  }

  #forbidStarts(): void {
    this.#stopping.abort();
    this.#mainEnded.abort();
  }

  #kill(graceMs: number): void {
    for (const [record, container] of this.#running) {
      if (!this.#killed.has(container)) this.#tell(record, 'Normal', 'Killing', `Stopping container ${record.name}`);
      this.#killed.add(container);
      container.stop(graceMs);
    }
  }

  #tell(record: ContainerRecord, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const list = this.#record.init.includes(record) ? 'initContainers' : 'containers';
    this.#deps.recorder.event(PODS, this.#pod, type, reason, message, `spec.${list}{${record.name}}`);
  }

  #graceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? GRACE_SECONDS) * 1000;
  }

  #watchDeadline(): { cancel(): void } | undefined {
    const { activeDeadlineSeconds } = this.#pod.spec;
    if (activeDeadlineSeconds === undefined) return undefined;
    const { clock } = this.#deps;
    return clock.schedule(
      () => {
        this.#deadlineExceeded = true;
        this.#deps.recorder.event(PODS, this.#pod, 'Normal', 'DeadlineExceeded', DEADLINE_EXCEEDED);
        this.#forbidStarts();
        this.#kill(this.#graceMs());
      },
      this.#record.startedAtMs + activeDeadlineSeconds * 1000 - clock.now(),
    );
  }

  /** One after the other; a sidecar only has to have started. False when one failed for good. */
  async #runInit(sidecars: Promise<void>[]): Promise<boolean> {
    for (const [index, record] of this.#record.init.entries()) {
      const container = this.#pod.spec.initContainers?.[index];
      if (container?.restartPolicy === 'Always') {
        const started = Promise.withResolvers<void>();
        this.#sidecarsStarted.set(record, started);
        sidecars.push(this.#runContainer(record, container, 'Always', this.#mainEnded.signal));
        if (this.#deps.runtime.ask !== undefined && isAsked(container.startupProbe))
          await Promise.race([started.promise, aborted(this.#stopping.signal)]);
        continue;
      }
      // An init container that succeeded is never run again, so Always means OnFailure here.
      await this.#runContainer(record, container, restartPolicyOf(this.#pod) === 'Never' ? 'Never' : 'OnFailure');
      if (record.state.kind !== 'terminated' || record.state.exitCode !== 0) return false;
    }
    return !this.#stopping.signal.aborted;
  }

  /** Runs a container until its policy lets it rest, or `until` aborts. */
  async #runContainer(
    record: ContainerRecord,
    container: DeepReadonly<Container> | undefined,
    policy: RestartPolicy,
    until = this.#stopping.signal,
  ): Promise<void> {
    const { clock } = this.#deps;
    if (record.state.kind === 'terminated' && (policy === 'Never' || (policy === 'OnFailure' && record.state.exitCode === 0))) return;
    let pauseMs = 0;
    while (container !== undefined && !until.aborted) {
      const command = await this.#resolve(record, container);
      if (command === undefined || until.aborted) return;
      const startedAtMs = clock.now();
      const exit = await this.#runOnce(record, container, command);
      if (until.aborted || policy === 'Never' || (policy === 'OnFailure' && exit.exitCode === 0)) return;
      if (clock.now() - startedAtMs > RESTART_FORGIVEN_MS) pauseMs = 0;
      await this.#pauseBeforeRestart(record, pauseMs, until);
      pauseMs = Math.min(RESTART_MAX_MS, Math.max(RESTART_BASE_MS, pauseMs * 2));
    }
  }

  async #runOnce(record: ContainerRecord, container: DeepReadonly<Container>, command: ContainerCommand): Promise<ContainerExit> {
    const { clock, runtime } = this.#deps;
    const startedAtMs = clock.now();
    this.#tell(record, 'Normal', 'Pulled', `Container image "${record.image}" already present on machine and can be accessed by the pod`);
    this.#tell(record, 'Normal', 'Created', 'Container created');
    const running = runtime.start({ pod: this.#pod, container, command, restarts: record.restarts });
    this.#running.set(record, running);
    record.state = { kind: 'running', startedAtMs };
    const isProbed = runtime.ask !== undefined && running.hasStarted;
    record.started = !(isProbed && isAsked(container.startupProbe));
    this.#status.changed();
    if (running.hasStarted) this.#tell(record, 'Normal', 'Started', 'Container started');
    const over = new AbortController();
    const probing = isProbed ? this.#probe(record, container, running, over.signal) : undefined;
    const exit = await running.exited;
    over.abort(new Error('the container has ended'));
    await probing;
    this.#running.delete(record);
    if (!running.hasStarted) this.#tell(record, 'Warning', 'Failed', `Error: ${exit.message ?? exit.reason}`);
    const reason = exit.reason ?? (exit.exitCode === 0 ? 'Completed' : 'Error');
    record.state = {
      kind: 'terminated',
      exitCode: exit.exitCode,
      reason,
      ...omitUndefined({ message: exit.message }),
      startedAtMs,
      finishedAtMs: clock.now(),
    };
    return exit;
  }

  /** Ends a container whose probes say so. */
  async #probe(record: ContainerRecord, container: DeepReadonly<Container>, running: RunningContainer, signal: AbortSignal): Promise<void> {
    const { startupProbe, livenessProbe } = container;
    if (isAsked(startupProbe)) {
      if (!(await this.#watch('startup', startupProbe, record, container, running, signal))) return;
      record.started = true;
      this.#status.changed();
    }
    this.#sidecarsStarted.get(record)?.resolve();
    if (isAsked(livenessProbe)) await this.#watch('liveness', livenessProbe, record, container, running, signal);
  }

  /** Whether it has succeeded; a container of which it has failed is told to end. */
  async #watch(
    kind: 'startup' | 'liveness',
    probe: Probe,
    record: ContainerRecord,
    container: DeepReadonly<Container>,
    running: RunningContainer,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock, podIp, runtime } = this.#deps;
    const ask = async (): Promise<string | undefined> => runtime.ask?.(probe, container, podIp, signal);
    const outcome = await watchProbe(probe, kind, ask, clock, signal);
    if (outcome.kind !== 'Failed') return outcome.kind === 'Succeeded';
    this.#tell(record, 'Warning', 'Unhealthy', `${kind === 'startup' ? 'Startup' : 'Liveness'} probe failed: ${outcome.problem}`);
    const isToStartAgain = container.restartPolicy === 'Always' || restartPolicyOf(this.#pod) !== 'Never';
    const what = `Container ${record.name} failed ${kind} probe${isToStartAgain ? ', will be restarted' : ''}`;
    if (!this.#killed.has(running)) this.#tell(record, 'Normal', 'Killing', what);
    this.#killed.add(running);
    running.stop(probe.terminationGracePeriodSeconds === undefined ? this.#graceMs() : probe.terminationGracePeriodSeconds * 1000);
    return false;
  }

  async #pauseBeforeRestart(record: ContainerRecord, pauseMs: number, until: AbortSignal): Promise<void> {
    const ended = record.state;
    if (pauseMs > 0) {
      const where = `${this.#pod.metadata.name}_${this.#pod.metadata.namespace}(${this.#pod.metadata.uid})`;
      this.#tell(record, 'Warning', 'BackOff', `Back-off restarting failed container ${record.name} in pod ${where}`);
      const message = `back-off ${pauseMs / 1000}s restarting failed container=${record.name} pod=${where}`;
      record.last = ended;
      record.state = { kind: 'waiting', reason: 'CrashLoopBackOff', message };
      record.restarts++;
      this.#status.changed();
      await sleep(this.#deps.clock, pauseMs, until);
      if (!until.aborted) return;
      record.restarts--;
      record.state = ended;
      return;
    }
    record.last = ended;
    record.restarts++;
  }

  /** Waits until everything the container refers to exists. Undefined when the pod stops first. */
  async #resolve(record: ContainerRecord, container: DeepReadonly<Container>): Promise<ContainerCommand | undefined> {
    let told = '';
    while (!this.#stopping.signal.aborted) {
      try {
        return await this.#command(container);
      } catch (error) {
        // Whatever it is, missing or unreachable, kubelet tells it and tries again.
        const message = error instanceof Error ? error.message : String(error);
        record.state = { kind: 'waiting', reason: 'CreateContainerConfigError', message };
        if (message !== told) this.#tell(record, 'Warning', 'Failed', `Error: ${message}`);
        told = message;
        this.#status.changed();
        await sleep(this.#deps.clock, CONFIG_RETRY_MS, this.#stopping.signal);
      }
    }
    return undefined;
  }

  async #command(container: DeepReadonly<Container>): Promise<ContainerCommand> {
    const { client, podIp, hostIp, runtime } = this.#deps;
    const { namespace } = this.#pod.metadata;
    const names = referencedConfig(container);
    const configMaps = new Map(
      await Promise.all(
        [...names.configMaps].map(async (name) => [name, await optional(client.get(CONFIG_MAPS, { namespace, name }))] as const),
      ),
    );
    const secrets = new Map(
      await Promise.all([...names.secrets].map(async (name) => [name, await optional(client.get(SECRETS, { namespace, name }))] as const)),
    );
    const addressed = { ...this.#pod, status: { ...this.#pod.status, podIP: podIp, hostIP: hostIp } };
    // After all that a start may have waited for, as images are.
    runtime.mount(this.#shown, container);
    return resolveCommand(addressed, container, { configMap: (name) => configMaps.get(name), secret: (name) => secrets.get(name) });
  }

  /** Everything has ended: the phase, and a state for containers that never ran. */
  #conclude(): void {
    for (const record of [...this.#record.init, ...this.#record.main]) {
      if (record.state.kind === 'terminated' || (record.state.kind === 'waiting' && !this.#stopping.signal.aborted)) continue;
      record.state = NOT_LOCATED;
    }
    if (this.#deadlineExceeded) {
      this.#record.outcome = { phase: 'Failed', reason: 'DeadlineExceeded', message: DEADLINE_EXCEEDED };
      return;
    }
    const succeeded = this.#record.main.every(({ state }) => state.kind === 'terminated' && state.exitCode === 0);
    this.#record.outcome = { phase: succeeded ? 'Succeeded' : 'Failed' };
  }

  /** The last duty of a node for a deleted pod; finalizers may still hold the object. */
  async #remove(): Promise<void> {
    const { client, log } = this.#deps;
    try {
      await client.delete(PODS, objectKey(this.#pod), { gracePeriodSeconds: 0, uid: this.#pod.metadata.uid });
    } catch (error) {
      // 409: the name belongs to another pod by now.
      if (isNotFound(error) || (error instanceof ApiError && error.code === 409)) return;
      log.warn('removing a terminated pod failed', { pod: this.#pod.metadata.name, error });
    }
  }
}

async function optional<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
