import { Agent, request } from 'undici';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

/** A program in a process of its own. How it is started, and where what it prints goes, is the caller's choice. */
export interface LaunchedProgram {
  stop(): Promise<void>;
  /** Never resolves; rejects when the program has ended. */
  failsWhenEnded(): Promise<never>;
}

export type Launch<P extends LaunchedProgram> = (name: string, command: readonly [string, ...string[]]) => P;

const READY_WITHIN_MS = 180_000;
const PROBE_EVERY_MS = 100;

/** Asks until `isReady`. Throws when the program ends before, or is not ready in time. */
export async function untilReady(program: LaunchedProgram, clock: Clock, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = clock.now() + READY_WITHIN_MS;
  while (!(await Promise.race([isReady(), program.failsWhenEnded()]))) {
    if (clock.now() > deadline) throw new Error(`a control plane was not ready within ${READY_WITHIN_MS / 1000} s`);
    await sleep(clock, PROBE_EVERY_MS);
  }
}

/** Whether a GET is answered with 200. */
export async function answersOk(url: string, { ca, token }: { readonly ca?: string; readonly token?: string } = {}): Promise<boolean> {
  const dispatcher = new Agent({ connect: omitUndefined({ ca }) });
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(url, { dispatcher, headers });
    await body.dump();
    return statusCode === 200;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOT_YET.has(String(error.code))) return false;
    throw error;
  } finally {
    await dispatcher.close();
  }
}

/** How a server that does not listen yet, or is just about to, is seen. */
const NOT_YET = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'EPIPE']);
