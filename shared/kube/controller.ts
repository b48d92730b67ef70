import type { Logger } from '../runtime/logger.ts';
import { isConflict } from './api-error.ts';
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
  /** Keys of each lane worked on at once. */
  readonly concurrency: number;
  /** Of the queue; default: 1. */
  readonly lanes?: number;
  readonly reconcile: Reconcile;
  readonly log: Logger;
};

/** Runs `concurrency` loops over each lane of the queue until it is shut down; resolves when the last reconcile has ended. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { concurrency, lanes = 1 } = options;
  const turn = createTurns();
  await Promise.all(Array.from({ length: concurrency * lanes }, (_, loop) => workOff(options, loop % lanes, turn)));
}

async function workOff(options: ControllerOptions, lane: number, turn: () => Promise<void>): Promise<void> {
  const { queue } = options;
  for (let key = await queue.get(lane); key !== undefined; key = await queue.get(lane)) {
    await turn();
    await reconcileOnce(options, key);
    queue.done(key);
  }
}

/**
 * Most reconciles find nothing to do, and end without waiting for anything: after so many, a few milliseconds, the event loop has its
 * turn, or a hundred thousand would keep all others waiting. What a single object needs takes a dozen turns.
 */
const KEYS_A_TURN = 25;

function createTurns(): () => Promise<void> {
  let keys = 0;
  let next = Promise.resolve();
  return async () => {
    while (keys >= KEYS_A_TURN) await next;
    if (keys++ > 0) return;
    next = new Promise((resolve) => {
      setImmediate(() => {
        keys = 0;
        resolve();
      });
    });
  };
}

/** One reconcile and what becomes of its key. Never throws: a key that fails is everyone's neighbour. */
async function reconcileOnce({ name, queue, reconcile, log }: ControllerOptions, key: string): Promise<void> {
  try {
    const result = await reconcile(key);
    queue.forget(key);
    if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
  } catch (error) {
    if (queue.isShutDown()) {
      log.info('reconcile was cut short, because its controller ends', { controller: name, key, error });
      return;
    }
    if (error instanceof TerminalError) {
      queue.forget(key);
      log.error('reconcile failed for good', { controller: name, key, error });
      return;
    }
    queue.addRateLimited(key);
    // A conflict is how the server says that our cache is behind; the retry will see the newer object.
    if (isConflict(error)) log.info('reconcile met a conflict, trying again', { controller: name, key });
    else log.error('reconcile failed, trying again', { controller: name, key, failures: queue.numRequeues(key), error });
  }
}
