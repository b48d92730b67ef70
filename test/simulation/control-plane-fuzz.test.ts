import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ControlPlane } from '../../shared/controlplane/control-plane.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { type Logger, silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type HostileRequest, hostileRequest, RECORDED } from './hostile-requests.ts';

/** How many requests; SWITCHYARD_FUZZ_RUNS asks for more, SWITCHYARD_FUZZ_SEED for others. */
const RUNS = Number(process.env['SWITCHYARD_FUZZ_RUNS'] ?? 3000);
const SEED = Number(process.env['SWITCHYARD_FUZZ_SEED'] ?? 1);
const LONGEST_WAIT_SECONDS = 120;

const unforeseen: unknown[] = [];
/** The server logs as an error only what it did not foresee. */
const log: Logger = { ...silentLogger, error: (message, fields) => unforeseen.push({ message, ...fields }), with: () => log };
const clock = new FakeClock();
let plane: ControlPlane;
let transport: Transport;

beforeAll(async () => {
  plane = await createControlPlane({ clock, random: seededRandom(SEED), log });
  transport = plane.transport();
  // What the requests are about should exist.
  for (const request of RECORDED) if (request.method === 'POST') await send(request);
});
afterAll(() => plane.close());

/** The status of the answer; watches and logs would go on, and are left. */
async function send(request: HostileRequest): Promise<number> {
  const leaving = new AbortController();
  let answered = false;
  const answering = transport.stream({ ...request, signal: leaving.signal }).finally(() => (answered = true));
  for (let second = 0; !answered && second < LONGEST_WAIT_SECONDS; second++) {
    await clock.settle();
    if (!answered) await clock.advance(1000);
  }
  const { status } = await answering;
  leaving.abort(new Error('seen enough'));
  return status;
}

const serves = async (): Promise<boolean> => (await send({ method: 'GET', path: '/api/v1/namespaces/default', headers: {} })) === 200;

test('whatever it is asked, the server foresees it, answers, and serves on', { timeout: RUNS * 100 + 20_000 }, async () => {
  const statuses = new Map<number, number>();
  const judge = async (request: HostileRequest): Promise<void> => {
    const status = await send(request);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect(unforeseen.splice(0)).toEqual([]);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(await serves()).toBe(true);
  };
  /** The assertion does not wait for this one where its time is over. */
  let last: Promise<void> | undefined;
  await fc.assert(
    fc.asyncProperty(hostileRequest(), (request) => (last = judge(request))),
    { numRuns: RUNS, seed: SEED, endOnFailure: process.env['SWITCHYARD_FUZZ_SHRINK'] === undefined },
  );
  await last;
  // The requests are of some use only when many of them are understood.
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  expect(answered).toBeGreaterThan(20);
  expect(statuses.get(200) ?? 0).toBeGreaterThan(answered / 20);
  expect(statuses.get(422) ?? 0).toBeGreaterThan(answered / 100);
});

test('no key of a document reaches the prototypes of the program', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(Object.getOwnPropertyNames(Array.prototype)).not.toContain('polluted');
});
