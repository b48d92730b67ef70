import { beforeEach, describe, expect, test } from 'vitest';
import { createTenantGate, type TenantGate } from '../../../../manager/submission/tenant-gate.ts';
import { gatedQueue, type GatedQueueDeps } from '../../../../manager/submission/gated-queue.ts';
import {
  SubmissionRefused,
  type Acceptance,
  type Submission,
  type SubmissionQueue,
} from '../../../../manager/submission/submission-queue.ts';
import type { Tenant } from '../../../../manager/submission/tenant.ts';
import { createRateLimiter } from '../../../../shared/kube/rate-limiter.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { aSubmission } from '../../../support/submissions.ts';

let clock: FakeClock;
let unended: Map<string, number>;
let turns: string[];
let stop: AbortController;
beforeEach(() => {
  clock = new FakeClock();
  unended = new Map();
  turns = [];
  stop = new AbortController();
});

const gateOf = (qps: number, turnsMax = 10): TenantGate =>
  createTenantGate({
    rate: createRateLimiter({ qps, burst: 1, clock }),
    turnsMax,
    unended: (tenant) => unended.get(tenant) ?? 0,
    onTurn: ({ id }) => turns.push(id),
    clock,
  });
const tenant = (id: string, parts: Partial<Tenant> = {}, limits: Partial<Tenant['limits']> = {}): Tenant =>
  testTenant({ id, label: id, ...parts, limits: { ...testTenant().limits, ...limits } });
const done = async (): Promise<void> => undefined;

describe('a tenant', () => {
  test('with a backlog of 3,000 delays the first of another by one turn', async () => {
    const gate = gateOf(300);
    for (let n = 0; n < 3_000; n++) void gate.turn(tenant('a'), false, done, stop.signal);
    await clock.advance(1_000);
    const before = turns.length;
    expect(before).toBeLessThan(400);
    void gate.turn(tenant('b'), false, done, stop.signal);
    await clock.advance(20);
    expect(turns.slice(before)).toContain('b');
  });

  test('does not hold up another by what takes long', async () => {
    const gate = gateOf(0, 4);
    const never = (): Promise<void> => new Promise(() => undefined);
    for (let n = 0; n < 100; n++) void gate.turn(tenant('slow'), false, never, stop.signal);
    void gate.turn(tenant('b'), false, done, stop.signal);
    await clock.settle();
    expect(turns.toSorted()).toEqual(['b', 'slow', 'slow']);
  });

  test('has so many turns a second as its limit says, and the others more', async () => {
    const gate = gateOf(0);
    for (let n = 0; n < 50; n++) void gate.turn(tenant('slow', {}, { perSecond: 2 }), false, done, stop.signal);
    for (let n = 0; n < 50; n++) void gate.turn(tenant('b'), false, done, stop.signal);
    await clock.settle();
    expect([turns.filter((id) => id === 'slow').length, turns.filter((id) => id === 'b').length]).toEqual([2, 50]);
    await clock.advance(10_000);
    expect(turns.filter((id) => id === 'slow').length).toBe(22);
  });

  test('at its limit of Jobs waits until one has ended, except with a submission that has a Job already', async () => {
    const gate = gateOf(0);
    const full = tenant('full', {}, { parked: 3 });
    unended.set('full', 3);
    void gate.turn(full, true, done, stop.signal);
    void gate.turn(full, false, done, stop.signal);
    void gate.turn(full, false, done, stop.signal);
    await clock.settle();
    expect(turns).toEqual(['full']);
    unended.set('full', 2);
    gate.ended();
    await clock.settle();
    expect(turns.length).toBeGreaterThan(1);
  });

  test('does not pass its limit with what is still being accepted', async () => {
    const gate = gateOf(0);
    const nearlyFull = tenant('nearly full', {}, { parked: 3 });
    unended.set('nearly full', 2);
    const accepted = Promise.withResolvers<void>();
    const submit = (): void => void gate.turn(nearlyFull, false, () => accepted.promise, stop.signal);
    for (let n = 0; n < 3; n++) submit();
    await clock.settle();
    expect(turns).toEqual(['nearly full']);
    // The Job is there before its turn is over.
    unended.set('nearly full', 3);
    accepted.resolve();
    await clock.settle();
    expect(turns).toEqual(['nearly full']);
    unended.set('nearly full', 2);
    gate.ended();
    await clock.settle();
    expect(turns.length).toBeGreaterThan(1);
  });

  test('whose queue is closed leaves the gate, and nothing of it is done', async () => {
    const gate = gateOf(0, 1);
    const first = Promise.withResolvers<void>();
    void gate.turn(tenant('b'), false, () => first.promise, stop.signal);
    const leaving = new AbortController();
    const left = expect(gate.turn(tenant('a'), false, done, leaving.signal)).rejects.toThrow('closed');
    leaving.abort(new Error('closed'));
    await left;
    void gate.turn(tenant('b'), false, done, stop.signal);
    first.resolve();
    await clock.settle();
    expect(turns).toEqual(['b', 'b']);
  });
});

describe('a queue behind the gate', () => {
  const queueOf = (...submissions: Submission[]) => {
    const answers: (Acceptance | Error)[] = [];
    const queue = {
      consume: async (accept: (submission: Submission) => Promise<Acceptance>) => {
        for (const each of submissions) answers.push(await accept(each).catch((error: Error) => error));
      },
    } as unknown as SubmissionQueue;
    return { queue, answers };
  };
  const ACCEPTANCE: Acceptance = { job: { namespace: 'team', name: 'sum' }, uid: 'u', outcome: undefined };

  test('tells what became of its submissions, and why one was refused', async () => {
    const results: string[] = [];
    const good = aSubmission({ id: 'good', submittedAt: 1, name: 'a', data: {} });
    const bad = aSubmission({ id: 'bad', submittedAt: 1, name: 'a', data: {} });
    const later = aSubmission({ id: 'later', submittedAt: 1, name: 'a', data: {} });
    const { queue } = queueOf(good, bad, later);
    const onResult: GatedQueueDeps['onResult'] = (result, { id }, refusal) =>
      results.push(`${id} ${result}${refusal === undefined ? '' : ` ${refusal.message}`}`);
    const gated = gatedQueue({ gate: gateOf(0), tenant: tenant('a'), queue, clock, onResult });
    await gated.consume(async ({ id }) => {
      if (id === 'bad') throw new SubmissionRefused('Invalid', 'no');
      if (id === 'later') throw new Error('the API server is away');
      return ACCEPTANCE;
    }, stop.signal);
    expect(results).toEqual(['good accepted', 'bad refused Invalid: no', 'later failed']);
  });

  test('refuses a submission at which our own code breaks, after a few times and not before', async () => {
    const poison = aSubmission({ id: 'poison', submittedAt: 1, name: 'a', data: {} });
    const { queue, answers } = queueOf(poison, poison, poison, poison, poison, poison);
    const gated = gatedQueue({ gate: gateOf(0), tenant: tenant('a'), queue, clock, onResult: () => undefined });
    await gated.consume(() => Promise.reject(new RangeError('Maximum call stack size exceeded')), stop.signal);
    expect(answers.map((answer) => answer instanceof SubmissionRefused)).toEqual([false, false, false, false, true, false]);
    expect((answers[4] as Error).message).toMatch(/^Invalid: the submission could not be read/);
  });
});
