import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { UsagePolicy } from '../../../../../manager/admission/fair-sharing/local-queue-usage.ts';
import { createUsageLedger, type UsageLedger } from '../../../../../manager/admission/fair-sharing/usage-ledger.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const policy: UsagePolicy = { halfLifeMs: HOUR, samplingIntervalMs: 5 * MINUTE, resourceWeights: new Map() };
const since = (ms: number): AdmissionRecord => ({
  clusterQueue: 'main',
  flavors: { cpu: 'default' },
  cluster: 'east',
  epoch: 1,
  since: new Date(ms).toISOString(),
  requests: {},
});
const two = parseRequests({ cpu: '2', pods: '1' });
const A = 'team/a';
const usageOf = (ledger: UsageLedger, nowMs: number, localQueue = A): number => ledger.usage(localQueue, 1, nowMs);
/** What one Job of 2 cpu costs at once. */
const PENALTY = 2 * (1 - 0.5 ** (1 / 12));

describe('the usage of LocalQueues', () => {
  test('a Job counts from its admission with its penalty, and what it used stays when it ends', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    expect(usageOf(ledger, 0)).toBeCloseTo(PENALTY);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(PENALTY / 2 + 1);
    ledger.ended('team/job', HOUR);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(PENALTY / 2 + 1);
    expect(usageOf(ledger, 2 * HOUR)).toBeCloseTo((PENALTY / 2 + 1) / 2);
    expect(usageOf(ledger, HOUR, 'team/b')).toBe(0);
  });

  test('to be told of an admission again changes nothing', () => {
    const ledger = createUsageLedger(policy);
    for (const nowMs of [0, 10, 20]) ledger.admitted(A, 'team/job', two, since(0), nowMs);
    expect(usageOf(ledger, 20)).toBeCloseTo(PENALTY);
  });

  test('a Job that holds less from now on counts less from now on, and pays no second penalty', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    ledger.admitted(A, 'team/job', parseRequests({ cpu: '1' }), since(0), HOUR);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(PENALTY / 2 + 1);
    expect(usageOf(ledger, 2 * HOUR)).toBeCloseTo((PENALTY / 2 + 1) / 2 + 0.5);
  });

  test('an admission that was never carried out has cost nothing', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/other', two, since(0), 0);
    const before = usageOf(ledger, HOUR);
    ledger.admitted(A, 'team/job', two, since(MINUTE), MINUTE);
    ledger.undone('team/job', HOUR);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(before);
    ledger.undone('team/job', HOUR);
    ledger.ended('team/unheard', HOUR);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(before);
  });

  test('a Job that is admitted again pays again', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    ledger.admitted(A, 'team/job', two, since(HOUR), HOUR);
    expect(usageOf(ledger, HOUR)).toBeCloseTo(PENALTY / 2 + 1 + PENALTY);
  });

  test('a LocalQueue that is deleted starts anew', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    ledger.forget(A);
    ledger.ended('team/job', HOUR);
    expect(usageOf(ledger, HOUR)).toBe(0);
    expect(ledger.unwritten(HOUR)).toEqual([]);
  });
});

describe('what is written down', () => {
  test('is written when Jobs have come or gone, at most once in a sampling interval', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    expect(ledger.unwritten(0)).toEqual([A]);
    ledger.written(A, 0);
    ledger.admitted(A, 'team/next', two, since(0), 1000);
    expect(ledger.unwritten(4 * MINUTE)).toEqual([]);
    expect(ledger.unwritten(5 * MINUTE)).toEqual([A]);
  });

  test('while something is held it is written when it has moved, for whoever reads it, and what only decays is not written', () => {
    const ledger = createUsageLedger(policy);
    ledger.admitted(A, 'team/job', two, since(0), 0);
    const writesUntil = (fromMs: number, toMs: number): number => {
      let writes = 0;
      for (let nowMs = fromMs; nowMs <= toMs; nowMs += 5 * MINUTE) {
        if (ledger.unwritten(nowMs).length === 0) continue;
        writes++;
        ledger.written(A, nowMs);
      }
      return writes;
    };
    expect(writesUntil(0, 3 * HOUR)).toBeGreaterThan(10);
    // It has used as much as it holds.
    expect(writesUntil(12 * HOUR, 48 * HOUR)).toBeLessThanOrEqual(1);
    ledger.ended('team/job', 48 * HOUR);
    expect(writesUntil(48 * HOUR, 96 * HOUR)).toBe(1);
  });

  test('with what still runs it gives the same again after a restart, whenever that is', () => {
    const minutes = (max: number) => fc.integer({ min: 0, max }).map((each) => each * MINUTE);
    const job = fc.record({ sinceMs: minutes(200), lastsMs: minutes(200) });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 8 }), minutes(200), minutes(60), (jobs, writtenMs, laterMs) => {
        const restartMs = writtenMs + laterMs;
        const before = createUsageLedger(policy);
        const events = jobs
          .flatMap(({ sinceMs, lastsMs }, index) => [
            { atMs: sinceMs, act: () => before.admitted(A, `j${index}`, two, since(sinceMs), sinceMs) },
            { atMs: sinceMs + lastsMs + 1, act: () => before.ended(`j${index}`, sinceMs + lastsMs + 1) },
          ])
          .toSorted((a, b) => a.atMs - b.atMs);
        for (const { atMs, act } of events) if (atMs <= writtenMs) act();
        const written = before.consumed(A, writtenMs);
        for (const { atMs, act } of events) if (atMs > writtenMs && atMs <= restartMs) act();
        const after = createUsageLedger(policy);
        after.restore(A, written, writtenMs);
        // What has ended since the last writing is known to nobody.
        fc.pre(jobs.map(({ sinceMs, lastsMs }) => sinceMs + lastsMs + 1).every((endMs) => endMs <= writtenMs || endMs > restartMs));
        for (const [index, { sinceMs, lastsMs }] of jobs.entries()) {
          if (sinceMs <= restartMs && sinceMs + lastsMs + 1 > restartMs) after.admitted(A, `j${index}`, two, since(sinceMs), restartMs);
        }
        expect(usageOf(after, restartMs)).toBeCloseTo(usageOf(before, restartMs), 6);
        expect(usageOf(after, restartMs + HOUR)).toBeCloseTo(usageOf(before, restartMs + HOUR), 6);
      }),
      { numRuns: 200 },
    );
  });
});
