/**
 * Goal: doctor knows every alert: what a person can see of it on the manager cluster has a check that names it, and of the others it says
 * where to look.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../../manager/api/cluster-queue.ts';
import type { SubmissionQueueObject } from '../../../../../manager/api/submission-queue.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import type { Check } from '../../../../../manager/cli/checks.ts';
import { SEEN_ALERTS, thresholdOf, UNSEEN_ALERTS, type SeenAlert } from '../../../../../manager/cli/doctor/alerts.ts';
import { judgeCertificates, judgeTokens, tokenLife } from '../../../../../manager/cli/doctor/expiry-judgements.ts';
import { authoritiesOf, judgeClusters, judgeManager, judgeUnseen, judgeWebhooks } from '../../../../../manager/cli/doctor/judgements.ts';
import { judgeRedisFound } from '../../../../../manager/cli/doctor/redis-judgements.ts';
import {
  judgeDeletions,
  judgeStuckQueues,
  judgeSubmissionQueues,
  judgeUnmanaged,
  judgeWaiting,
} from '../../../../../manager/cli/doctor/waiting-judgements.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { qualifiedName } from '../../../../../manager/work-kind/qualified-name.ts';
import type { Job, WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, HOLD_ANNOTATION, MANAGER_CONTROLLER_NAME } from '../../../../../shared/api/names.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';
import { ALERTS } from '../../../../../shared/monitoring/alerts.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const HOUR_MS = 3_600_000;
const meta = (name: string, ageMs = 0, more: object = {}) => ({
  name,
  namespace: 'team',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: new Date(NOW - ageMs).toISOString(),
  ...more,
});
const condition = (type: string, status: string) => ({ type, status, reason: 'R', message: 'm' });
const job = (ageMs: number, { metadata = {}, spec = {}, status = {} }: { metadata?: object; spec?: object; status?: object } = {}): Job =>
  ({
    metadata: meta('a', ageMs, metadata),
    spec: { suspend: true, managedBy: MANAGER_CONTROLLER_NAME, ...spec },
    status: { conditions: [condition('QuotaReserved', 'False')], ...status },
  }) as unknown as Job;
const cluster = (type: string): WorkerCluster =>
  ({ metadata: meta('east'), spec: {}, status: { conditions: [condition(type, 'False')] } }) as unknown as WorkerCluster;
const lease = (spec: object) => [{ metadata: meta('switchyard-manager'), spec: { holderIdentity: 'pod', ...spec } }];
const hook = (more: object = {}) => [
  { metadata: meta('c'), webhooks: [{ name: 'jobs.switchyard.dev', clientConfig: { caBundle: 'x' }, rules: [], ...more }] },
];
const queue = (status: object, spec: object = {}): ClusterQueue =>
  ({ metadata: meta('batch'), spec: { resourceGroups: [], ...spec }, status }) as unknown as ClusterQueue;
const submissions = (status: object): SubmissionQueueObject =>
  ({ metadata: meta('q'), spec: {}, status }) as unknown as SubmissionQueueObject;
const renewed = new Date(NOW - 1000).toISOString();

const redis = (info: string, problem?: string) =>
  judgeRedisFound({
    address: 'redis:6379',
    tookMs: 1,
    hasPassword: true,
    masters: info === '' ? [] : [{ server: 'redis', info }],
    ...(problem === undefined ? {} : { problem }),
  });

/** Each alert, and what has doctor tell of it. */
const SITUATIONS: Readonly<Record<SeenAlert, () => Check | Check[]>> = {
  SwitchyardJobsUnmanaged: () => judgeUnmanaged(JOB_KIND, [job(HOUR_MS, { status: { conditions: [] } })], NOW),
  SwitchyardClusterLost: () => judgeClusters([cluster('Reachable')], NOW),
  SwitchyardClusterNotAble: () => judgeClusters([cluster('Able')], NOW),
  SwitchyardQueueStuck: () => judgeStuckQueues([queue({ pendingWorkloads: 3, admittedWorkloads: 0 })]),
  SwitchyardQueueStarving: () => judgeWaiting(JOB_KIND, [job(7 * HOUR_MS)], NOW),
  SwitchyardSubmissionBacklog: () => judgeSubmissionQueues([submissions({ backlog: 5, conditions: [condition('Active', 'False')] })]),
  SwitchyardWebhookFailing: () => judgeWebhooks('mutating', hook({ clientConfig: {} }), false),
  SwitchyardWebhookNotCovering: () => judgeWebhooks('validating', hook(), false),
  SwitchyardNoLeader: () => judgeManager(lease({ renewTime: new Date(NOW - HOUR_MS).toISOString() }), 'switchyard', NOW),
  SwitchyardLeaderFlapping: () =>
    judgeManager(lease({ renewTime: renewed, acquireTime: new Date(NOW - 20_000).toISOString(), leaseTransitions: 12 }), 'switchyard', NOW),
  SwitchyardFinalizersLeft: () =>
    judgeDeletions(
      JOB_KIND,
      [job(HOUR_MS, { metadata: { deletionTimestamp: new Date(NOW - HOUR_MS).toISOString(), finalizers: [COPIES_FINALIZER] } })],
      NOW,
    ),
  SwitchyardCertificateExpiring: () => judgeCertificates([NOW + HOUR_MS], NOW),
  SwitchyardRedisUnreachable: () => redis('', 'connect ECONNREFUSED'),
  SwitchyardRedisNotDurable: () => redis('aof_enabled:0').filter(({ result }) => result === 'wrong'),
  SwitchyardRedisMemory: () => redis('used_memory:95\nmaxmemory:100').filter(({ result }) => result === 'wrong'),
  SwitchyardTokenExpiring: () => judgeTokens([{ cluster: 'east', issuedMs: NOW - 8000 * HOUR_MS, endsMs: NOW + HOUR_MS }], NOW),
};

test.each(Object.entries(SITUATIONS))('%s is told of, with its name and what to do', (alert, judge) => {
  const checks = [judge()].flat();
  expect(checks).toEqual([expect.objectContaining({ alert, remedy: expect.stringMatching(/\w/) })]);
  expect(['note', 'wrong']).toContain(checks[0]?.result);
});

describe('the alerts', () => {
  const known = new Set<string>([...SEEN_ALERTS, ...Object.keys(UNSEEN_ALERTS)]);

  test('are all known, each once', () => {
    expect(ALERTS.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(known.size).toBe(SEEN_ALERTS.length + Object.keys(UNSEEN_ALERTS).length);
  });

  test('have the pages that doctor names, as far as this version has them', () => {
    const pages = path.join(import.meta.dirname, '..', '..', '..', '..', '..', 'docs', 'runbooks');
    for (const { name } of ALERTS) expect(existsSync(path.join(pages, `${name}.md`)), name).toBe(true);
    expect(
      readdirSync(pages)
        .map((file) => file.replace(/\.md$/, ''))
        .filter((name) => name !== 'README' && !known.has(name)),
    ).toEqual([]);
  });

  test('and doctor agree on what is too much', () => {
    expect(thresholdOf('SwitchyardQueueStarving', 'seconds', 1)).toBe(21_600);
    expect(thresholdOf('SwitchyardQueueStarving', 'no such number', 7)).toBe(7);
  });
});

describe('what is as it should be is not told of', () => {
  test.each<[string, readonly Check[]]>([
    ['a Job of which the manager has spoken', judgeUnmanaged(JOB_KIND, [job(HOUR_MS)], NOW)],
    ['a Job that has just been made', judgeUnmanaged(JOB_KIND, [job(1000, { status: { conditions: [] } })], NOW)],
    ['a Job that is held', judgeWaiting(JOB_KIND, [job(9 * HOUR_MS, { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } })], NOW)],
    ['a Job that runs', judgeWaiting(JOB_KIND, [job(9 * HOUR_MS, { spec: { suspend: false } })], NOW)],
    ['a queue that is stopped', judgeStuckQueues([queue({ pendingWorkloads: 3 }, { stopPolicy: 'Hold' })])],
    ['a queue in which something runs', judgeStuckQueues([queue({ pendingWorkloads: 3, admittedWorkloads: 1 })])],
    [
      'a queue of submissions that is served',
      judgeSubmissionQueues([submissions({ backlog: 5, conditions: [condition('Active', 'True')] })]),
    ],
    ['a short token early in its life', judgeTokens([{ cluster: 'east', issuedMs: NOW - HOUR_MS, endsMs: NOW + 2 * HOUR_MS }], NOW)],
    ['no certificate of ours', judgeCertificates([], NOW)],
  ])('%s', (_, checks) => expect(checks).toEqual([]));

  test('Jobs that go, certificates of which one holds, and a leader of long ago are well', () => {
    expect(judgeDeletions(JOB_KIND, [job(HOUR_MS)], NOW)).toMatchObject({ result: 'ok' });
    expect(judgeCertificates([NOW - HOUR_MS, NOW + 1000 * HOUR_MS], NOW)).toMatchObject([{ result: 'ok' }]);
    expect(
      judgeManager(lease({ renewTime: renewed, acquireTime: '2026-01-01T00:00:00Z', leaseTransitions: 12 }), 'switchyard', NOW),
    ).toMatchObject({
      result: 'ok',
    });
    expect(judgeUnseen(JOB_KIND, [job(HOUR_MS)])).toMatchObject({ result: 'ok' });
  });
});

test('a certificate and a token that have ended are wrong', () => {
  expect(judgeCertificates([NOW - 1], NOW)).toMatchObject([{ result: 'wrong' }]);
  expect(judgeTokens([{ cluster: 'east', issuedMs: NOW - HOUR_MS, endsMs: NOW - 1 }], NOW)).toMatchObject([
    { result: 'wrong', check: 'token east' },
  ]);
});

test('a token tells its life, and what is none tells nothing', () => {
  const claims = (value: object): string => `h.${Buffer.from(JSON.stringify(value)).toString('base64url')}.s`;
  expect(tokenLife(claims({ iat: 1, exp: 2 }))).toEqual({ issuedMs: 1000, endsMs: 2000 });
  for (const other of ['', 'opaque', claims({ iat: 1 }), 'a.b.c']) expect(tokenLife(other)).toBeUndefined();
});

test('the authorities of our webhook are those of its bundle, and of no other webhook', () => {
  const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`;
  const bundle = Buffer.from(`${pem('AA')}\n${pem('BB')}\n`).toString('base64');
  const others = [{ metadata: meta('o'), webhooks: [{ name: 'other', clientConfig: { caBundle: bundle } }] }];
  expect(authoritiesOf([...hook({ clientConfig: { caBundle: bundle } }), ...others])).toEqual([pem('AA'), pem('BB')]);
});

describe('of an object of a described kind', () => {
  const kind = createKinds(JOB_KIND, [aCrewKind()]);
  const elsewhere = 'example.com/elsewhere';
  const crew = (ageMs: number, { metadata = {}, managedBy = elsewhere, suspend = true, status = {} } = {}): WorkObject => {
    const object = aCrew({ spec: { policy: { suspend, managedBy } }, status });
    const name = qualifiedName('crews.example.com', 'argo');
    return { ...object, metadata: { ...object.metadata, ...meta(name, ageMs, metadata) } };
  };

  test('the same is told as of a Job, by kind and name', () => {
    expect(judgeWaiting(kind, [crew(7 * HOUR_MS), job(6.5 * HOUR_MS)], NOW)).toMatchObject([
      { found: '2 wait for more than 6 h, Crew team/argo the longest', remedy: 'switchyard explain crew/argo -n team says what for' },
    ]);
    expect(judgeUnmanaged(kind, [crew(HOUR_MS)], NOW)).toMatchObject([
      { result: 'wrong', found: 'nobody has said anything of 1 objects for 20 min, such as Crew team/argo' },
    ]);
    const gone = { deletionTimestamp: new Date(NOW - HOUR_MS).toISOString(), finalizers: [COPIES_FINALIZER] };
    expect(judgeDeletions(kind, [crew(HOUR_MS, { metadata: gone })], NOW)).toMatchObject({
      result: 'wrong',
      found: '1 deleted objects stay, such as Crew team/argo: their copies are not proven to be gone',
    });
    expect(judgeUnseen(kind, [crew(HOUR_MS, { managedBy: 'example.com/crew-operator' })])).toMatchObject({
      result: 'wrong',
      found: expect.stringMatching(/^1 with the label .* such as Crew team\/argo$/),
    });
  });

  test('what runs, and of which the manager has spoken, is well', () => {
    const status = { conditions: [condition('QuotaReserved', 'True')] };
    const running = crew(7 * HOUR_MS, { suspend: false, status });
    expect([...judgeWaiting(kind, [running], NOW), ...judgeUnmanaged(kind, [running], NOW)]).toEqual([]);
    expect(judgeUnseen(kind, [running])).toMatchObject({ result: 'ok' });
  });
});
