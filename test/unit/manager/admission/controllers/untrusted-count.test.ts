import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createUntrustedCount } from '../../../../../manager/admission/controllers/untrusted-count.ts';
import { UntrustedReason, type Untrusted } from '../../../../../manager/admission/workload/workload.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';

const FORGED: Untrusted = { reason: 'Forged', problem: 'p' };

test('a record is counted once, another one again, and a Job for as long as it carries one', async () => {
  const registry = new Registry();
  const count = createUntrustedCount(createManagerMetrics(registry).admission);
  const figures = async (): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .flatMap((line) => /^switchyard_untrusted_(records_total|jobs){reason="(\w+)"} ([1-9])/.exec(line)?.slice(1).join(' ') ?? [])
      .toSorted();
  expect(await figures()).toEqual([]);
  const seen = (untrusted: Untrusted | undefined, text?: string): void => count.observe({ key: 'team/a', untrusted }, text);
  seen(FORGED, 'one');
  seen(FORGED, 'one');
  expect(await figures()).toEqual(['jobs Forged 1', 'records_total Forged 1']);
  seen(FORGED, 'two');
  seen(undefined, 'good');
  seen(undefined, 'other');
  expect(await figures()).toEqual(['records_total Forged 2']);
  seen({ reason: 'Missing', problem: 'p' });
  expect(await figures()).toEqual(['jobs Missing 1', 'records_total Forged 2', 'records_total Missing 1']);
  count.forget('team/a');
  count.forget('team/a');
  expect(await figures()).toEqual(['records_total Forged 2', 'records_total Missing 1']);
});

test('every reason has a series that starts at 0, so that its first record shows as an increase', async () => {
  const registry = new Registry();
  createUntrustedCount(createManagerMetrics(registry).admission);
  const text = await registry.metrics();
  for (const reason of Object.values(UntrustedReason)) {
    expect(text).toContain(`switchyard_untrusted_records_total{reason="${reason}"} 0\n`);
    expect(text).toContain(`switchyard_untrusted_jobs{reason="${reason}"} 0\n`);
  }
});
