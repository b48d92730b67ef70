import type { DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import { PODS } from '../../../api/resources.ts';
import { ApiError, isNotFound } from '../../../kube/api-error.ts';
import type { StatusClient } from '../../../kube/client.ts';
import { objectKey } from '../../../kube/keys.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { type PodRecord, podStatus } from './pod-status.ts';

const RETRY_MS = 1000;

/** Keeps a pod's status in the API equal to what the node agent knows: one write at a time, the newest state only. */
export class StatusWriter {
  readonly #client: StatusClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #record: PodRecord;
  /** The pod as the server last showed it. */
  #pod: DeepReadonly<Pod>;
  #written = '';
  #pending = false;
  #writing: Promise<void> = Promise.resolve();
  #idle = true;
  #gone = false;

  constructor(deps: { client: StatusClient; clock: Clock; log: Logger }, pod: DeepReadonly<Pod>, record: PodRecord) {
    this.#client = deps.client;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#pod = pod;
    this.#record = record;
  }

  /** The record has changed. */
  changed(): void {
    this.#pending = true;
    if (!this.#idle) return;
    this.#idle = false;
    this.#writing = this.#writeAll();
  }

  /** Resolves when everything is written; false when the pod is gone. */
  async settled(): Promise<boolean> {
    await this.#writing;
    return !this.#gone;
  }

  /** The pod is no longer in the API: there is nothing to write to. */
  stop(): void {
    this.#gone = true;
  }

  async #writeAll(): Promise<void> {
    while (this.#pending && !this.#gone) {
      this.#pending = false;
      await this.#write();
    }
    this.#idle = true;
  }

  async #write(): Promise<void> {
    const status = podStatus(this.#pod, this.#record, this.#clock.now());
    const text = JSON.stringify(status);
    if (text === this.#written) return;
    const body = { metadata: { uid: this.#pod.metadata.uid }, status: { ...status, podIPs: this.#addresses() } };
    try {
      this.#pod = await this.#client.patchStatus(PODS, objectKey(this.#pod), { type: 'strategic', body });
      this.#written = text;
    } catch (error) {
      if (isNotFound(error) || isOtherPod(error)) {
        this.#gone = true;
        return;
      }
      this.#log.warn('writing a pod status failed', { pod: this.#pod.metadata.name, error });
      await sleep(this.#clock, RETRY_MS);
      this.#pending = true;
    }
  }

  /** Addresses merge by their value: those of an earlier life, before this node was lost, are taken away. */
  #addresses(): object[] {
    const { podIp } = this.#record;
    const outdated = (this.#pod.status?.podIPs ?? []).filter(({ ip }) => ip !== podIp);
    return [...outdated.map(({ ip }) => ({ $patch: 'delete', ip })), { ip: podIp }];
  }
}

/** The name belongs to another pod by now: patching its UID is refused as a conflict or as invalid. */
const isOtherPod = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 409 || (error.code === 422 && error.message.includes('metadata.uid')));
