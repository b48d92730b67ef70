import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Workqueue } from './workqueue.ts';

/** What a reconcile wants next: nothing, or another run after a while. An error thrown means: rate-limited retry. */
export type ReconcileResult = { readonly requeueAfterMs?: number } | void;
export type Reconcile = (key: string) => Promise<ReconcileResult>;

/** The world cannot make this work without a change of the object: logged and not retried. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

export type ControllerOptions = {
  readonly name: string;
  readonly queue: Workqueue;
  readonly concurrency: number;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Runs `concurrency` loops over the queue until it is shut down; resolves when the last reconcile has ended. */
export declare function runController(options: ControllerOptions): Promise<void>;
