import type { Container, DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import type { ContainerCommand } from './container-environment.ts';
import type { AskProbe } from './probes.ts';

/** How a container ended. */
export type ContainerExit = {
  /** 128 + n for a signal n. */
  readonly exitCode: number;
  /** Where it is not just Completed or Error: `StartError`. */
  readonly reason?: string;
  /** What the container left as its termination message. */
  readonly message?: string;
};

export interface RunningContainer {
  /** False when it could not be started; then `exited` says why. */
  readonly hasStarted: boolean;
  /** Never rejects. */
  readonly exited: Promise<ContainerExit>;
  /** Asks the container to end, and ends it after `graceMs`. May be called again with less time. */
  stop(graceMs: number): void;
}

export type StartRequest = {
  readonly pod: DeepReadonly<Pod>;
  readonly container: DeepReadonly<Container>;
  readonly command: ContainerCommand;
  /** How often this container of this pod was started before. */
  readonly restarts: number;
};

/** Something that runs containers. What cannot be started is a container that ended with a StartError. */
export interface ContainerRuntime {
  /** Makes the volumes ready that a container mounts; throws with what stands against it. Before each start. */
  mount(pod: DeepReadonly<Pod>, container: DeepReadonly<Container>): void;
  /** The pod was changed: what its volumes show of it is shown anew. */
  podChanged(pod: DeepReadonly<Pod>): void;
  /** Asks the probes of its containers; undefined: they have nothing that could answer. */
  readonly ask: AskProbe | undefined;
  start(request: StartRequest): RunningContainer;
  /** Forgets what was kept for a pod that is gone from the API (logs). */
  removePod(pod: DeepReadonly<Pod>): Promise<void>;
  /** Ends everything that still runs, at once. */
  close(): Promise<void>;
}
