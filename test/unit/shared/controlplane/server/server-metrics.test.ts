import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONFIG_MAPS, PODS } from '../../../../../shared/api/resources.ts';
import { parseSamples, total, type Sample } from '../../../../bench/prometheus-text.ts';
import { startCluster, type EmbeddedCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await startCluster(new FakeClock(), []);
});
afterEach(() => cluster.plane.close());
const samples = async (): Promise<Sample[]> => parseSamples(await cluster.client.raw({ method: 'GET', path: '/metrics' }));

test('requests are counted by verb, resource and code, and stored objects by resource', async () => {
  await cluster.client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'a' }, data: {} });
  await expect(cluster.client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'a' } })).rejects.toThrow(/already exists/);
  await cluster.client.list(PODS);
  const seen = await samples();
  const created = { verb: 'CREATE', resource: 'configmaps', version: 'v1' };
  expect(total(seen, 'apiserver_request_total', { ...created, code: '201' })).toBe(1);
  expect(total(seen, 'apiserver_request_total', { ...created, code: '409' })).toBe(1);
  expect(total(seen, 'apiserver_request_total', { verb: 'LIST', resource: 'pods', code: '200' })).toBe(1);
  expect(total(seen, 'apiserver_request_duration_seconds_count', created)).toBe(2);
  expect(total(seen, 'apiserver_storage_objects', { resource: 'configmaps' })).toBe(1);
});

test('paths that nobody serves share one series, however many are asked for', async () => {
  for (let n = 0; n < 50; n++) await expect(cluster.client.raw({ method: 'GET', path: `/apis/made-up.io/v${n}/things` })).rejects.toThrow();
  const unknown = (await samples()).filter(({ name, labels }) => name === 'apiserver_request_total' && labels['code'] === '404');
  expect(unknown).toHaveLength(1);
  expect(unknown[0]?.value).toBe(50);
});
