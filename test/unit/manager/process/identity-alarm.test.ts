import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createIdentityAlarm } from '../../../../manager/process/identity-alarm.ts';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { EVENTS } from '../../../../shared/api/resources.ts';
import { createEventRecorder } from '../../../../shared/kube/event-recorder.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createLogger } from '../../../../shared/runtime/pino-logger.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('a shared identity is told once for each sign of it: in log, metric, an Event, and to who asks how the manager is', async () => {
  const clock = new FakeClock();
  const { client, plane } = await startCluster(clock, []);
  const registry = new Registry();
  const lines: { level: string; message: string }[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const events = createEventRecorder({ client, component: 'switchyard-manager', clock, log: silentLogger });
  const alarm = createIdentityAlarm({ client, events, log, metrics: createManagerMetrics(registry).identity });
  const metric = async (): Promise<string | undefined> => /^switchyard_manager_identity_shared (.*)$/m.exec(await registry.metrics())?.[1];
  expect(await metric()).toBe('0');
  expect(alarm.warnings()).toEqual([]);

  alarm.sharedBy('kubernetes-admin', 'kubectl-edit');
  alarm.sharedBy('kubernetes-admin', 'kubectl-patch');
  alarm.administrator('kubernetes-admin');
  await clock.advance(1_000);
  await events.flush();

  const told = [
    'somebody else writes as kubernetes-admin, the user that the manager is; give the manager a user of its own, that nobody else can use',
    'the manager uses an administrator’s identity, kubernetes-admin; give it a user of its own, with the rights that the chart gives it',
  ];
  expect(await metric()).toBe('1');
  expect(alarm.warnings()).toEqual(told);
  expect(lines.map(({ level, message }) => ({ level, message }))).toEqual(told.map((message) => ({ level: 'error', message })));
  expect(lines[0]).toMatchObject({ fieldManager: 'kubectl-edit', expected: 'switchyard-manager' });
  const { items } = await client.list(EVENTS);
  expect(items.map(({ type, reason, involvedObject }) => [type, reason, involvedObject.name])).toEqual([
    ['Warning', 'IdentityShared', 'kube-system'],
    ['Warning', 'AdministratorIdentity', 'kube-system'],
  ]);
  await plane.close();
});
