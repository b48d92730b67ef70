import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createUntrustedCount } from '../../../../manager/admission/untrusted-count.ts';
import type { Untrusted } from '../../../../manager/admission/workload.ts';
import { createManagerMetrics } from '../../../../manager/metrics.ts';

const FORGED: Untrusted = { reason: 'Forged', problem: 'p' };

test('a record is counted once, another one again, and a Job for as long as it carries one', async () => {
  const registry = new Registry();
  const count = createUntrustedCount(createManagerMetrics(registry).admission);
  const figures = async (): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .flatMap((line) => /^switchyard_untrusted_(?:records_total|jobs){reason="(\w+)"} (\d)/.exec(line)?.slice(1).join(' ') ?? []);
  expect(await figures()).toEqual(['Missing 0', 'Invalid 0', 'Forged 0', 'Missing 0', 'Invalid 0', 'Forged 0']);
  const seen = (untrusted: Untrusted | undefined, text?: string): void => count.observe({ key: 'team/a', untrusted }, text);
  seen(FORGED, 'one');
  seen(FORGED, 'one');
  expect(await figures()).toEqual(['Missing 0', 'Invalid 0', 'Forged 1', 'Missing 0', 'Invalid 0', 'Forged 1']);
  seen(FORGED, 'two');
  seen(undefined, 'good');
  seen(undefined, 'other');
  expect(await figures()).toEqual(['Missing 0', 'Invalid 0', 'Forged 2', 'Missing 0', 'Invalid 0', 'Forged 0']);
  seen({ reason: 'Missing', problem: 'p' });
  expect(await figures()).toEqual(['Missing 1', 'Invalid 0', 'Forged 2', 'Missing 1', 'Invalid 0', 'Forged 0']);
  count.forget('team/a');
  count.forget('team/a');
  expect(await figures()).toEqual(['Missing 1', 'Invalid 0', 'Forged 2', 'Missing 0', 'Invalid 0', 'Forged 0']);
});
