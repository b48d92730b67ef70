import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCertificateGauge } from '../../../../shared/runtime/certificate-gauge.ts';

test('a certificate is told of by its server, and nothing before it is known', async () => {
  const registry = new Registry();
  const gauge = createCertificateGauge(registry);
  expect(await registry.metrics()).not.toContain('not_after_seconds{');
  gauge.set({ certificate: 'webhook' }, 1_800_000_000);
  expect(await registry.metrics()).toContain('switchyard_certificate_not_after_seconds{certificate="webhook"} 1800000000');
});
