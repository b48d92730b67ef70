import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { DashboardWorld } from './dashboard-world.ts';

/**
 * A morning at work: Jobs that run, borrow, wait for different reasons, have failed at some indexes, and have ended. Time goes on while it
 * comes about.
 */
export async function aMorningAtWork({ world, submit }: DashboardWorld): Promise<void> {
  const { clock } = world;
  const indexed = { completionMode: 'Indexed', backoffLimit: 100 };
  for (const day of ['mon', 'tue', 'wed', 'thu']) await submit('reports', `usage-${day}`, { cpu: '500m', seconds: 40 });
  await submit('reports', 'invoices-2026-01', { cpu: '1', seconds: 30, exitCode: 3, spec: { backoffLimit: 1 } });
  await submit('vision', 'evaluate-r50', { cpu: '2', seconds: 90 });
  await submit('vision', 'resize-images', { cpu: '1', seconds: 60, spec: { ...indexed, completions: 4, parallelism: 4 } });
  await clock.advance(240_000);
  await submit('language', 'train-llm-7b', { cpu: '2', seconds: 5_400, spec: { ...indexed, completions: 8, parallelism: 8 } });
  await clock.advance(20_000);
  await submit('vision', 'train-detector', { cpu: '4', seconds: 3_600 });
  await submit('vision', 'label-frames', { cpu: '1', seconds: 100, spec: { ...indexed, completions: 48, parallelism: 4 } });
  await clock.advance(350_000);
  await submit('language', 'tokenize-wiki', { cpu: '2', seconds: 900, spec: { completions: 4, parallelism: 2 } });
  await submit('language', 'evaluate-7b', { cpu: '4', seconds: 600 });
  await submit('reports', 'forecast', { cpu: '3', seconds: 1_800 });
  await submit('reports', 'all-years', { cpu: '24', seconds: 1_800 });
  await clock.advance(30_000);
  for (let number = 1; number <= 9; number++) await submit('language', `sweep-${number}`, { cpu: '2', seconds: 300 });
  await submit('team', 'smoke-test', { cpu: '100m', seconds: 3_000, labels: { [QUEUE_NAME_LABEL]: 'main' } });
  await clock.advance(95_000);
  const now = new Date(clock.now()).toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'Watching', message: 'submissions are taken', lastTransitionTime: now };
  const refused = {
    ...condition,
    status: 'False',
    reason: 'Forbidden',
    message: 'the account "loader" may not create Jobs in namespace "reports"',
  };
  for (const [namespace, status] of [
    ['vision', { backlog: 0, parked: 0, accepted: 1_284, refused: 3, conditions: [condition] }],
    ['language', { backlog: 412, parked: 2, accepted: 96, refused: 0, conditions: [condition] }],
    ['reports', { backlog: 7, parked: 0, accepted: 0, refused: 0, conditions: [refused] }],
  ] as const) {
    const metadata = { namespace, name: 'intake' };
    await world.home.create(SUBMISSION_QUEUES, { metadata, spec: { serviceAccountName: 'loader' } });
    await world.home.patchStatus(SUBMISSION_QUEUES, metadata, { type: 'merge', body: { status } });
  }
  await clock.advance(5_000);
}
