/** Who reads which log, and until when. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { LiveLogs, LogEvent, LogReading } from '../../../../manager/dashboard/live-logs.ts';
import { liveReading } from '../../../../manager/dashboard/live-reading.ts';
import type { Refused } from '../../../../manager/dashboard/rights-reader.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import type { AccessAttributes } from '../../../../shared/kube/access-reviews.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { anAdmittedJob } from '../../../support/jobs.ts';

const PLACED = anAdmittedJob({ metadata: { uid: 'uid-sum' } }, { cluster: 'eu-1', epoch: 3 });
const ANN = { username: 'ann' };
const SEES_TEAM: Rights = { namespaces: new Set(['team']), queues: 'All', clusters: 'All' };
const FORBIDDEN: Refused = { kind: 'Refused', status: 403, why: 'no' };
const BUSY: Refused = { kind: 'Refused', status: 503, why: 'later' };

let clock: FakeClock;
let jobs: ReturnType<typeof createObjectCache<Job>>;
/** What the API server refuses: everything that is asked about this resource. */
let refused: Partial<Record<'jobs' | 'pods', Refused>>;
let reviewed: AccessAttributes[];
/** What worker clusters were asked for. */
let readings: (LogReading & { readonly pod: string })[];
let leaving: AbortController;
beforeEach(() => {
  [clock, jobs, refused, reviewed, readings, leaving] = [new FakeClock(), createObjectCache<Job>(), {}, [], [], new AbortController()];
  jobs.set(PLACED);
});

/** A log that says one line, and then nothing until nobody reads it. */
const live: LiveLogs = {
  pods: async () => ({ kind: 'Found', value: { cluster: 'eu-1', pods: [] } }),
  async log(_job, pod, reading) {
    readings.push({ ...reading, pod });
    return { kind: 'Found', value: lines(reading.signal) };
  },
};
async function* lines(signal: AbortSignal): AsyncGenerator<LogEvent> {
  yield { id: '1', event: 'lines', data: { text: 'one' } };
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const reading = (options: { readonly live?: LiveLogs | undefined; readonly seen?: Rights } = {}) =>
  liveReading(
    {
      kind: JOB_KIND,
      jobs,
      live: 'live' in options ? options.live : live,
      clock,
      rights: {
        rightsOf: () => Promise.reject(new Error('nobody asks who it is')),
        refusalNow: () => Promise.reject(new Error('answers of the last minute do')),
        async refusal(_user, attributes) {
          reviewed.push(attributes);
          return 'resourceAttributes' in attributes ? refused[attributes.resourceAttributes.resource as 'jobs' | 'pods'] : FORBIDDEN;
        },
      },
    },
    ANN,
    options.seen ?? SEES_TEAM,
  );

/** Reads to the end; `ended` says whether it has come. */
async function follow(options?: Parameters<typeof reading>[0]) {
  const found = await reading(options).followLog('team', 'sum', 'sum-0', '7', leaving.signal);
  if (found.kind !== 'Found') throw new Error(`expected a log, got ${JSON.stringify(found)}`);
  const log = { ids: [] as string[], ended: false };
  const read = async (): Promise<void> => {
    for await (const { id } of found.value) log.ids.push(id);
    log.ended = true;
  };
  const done = read();
  await clock.advance(0);
  return { log, done };
}

describe('before anything is read', () => {
  test('who may read logs follows that of one pod from where he was, within his own limits', async () => {
    const { log, done } = await follow();
    expect(log).toEqual({ ids: ['1'], ended: false });
    expect(readings).toMatchObject([{ pod: 'sum-0', lastEventId: '7', owner: expect.stringContaining('ann') as string }]);
    expect(reviewed).toEqual([
      { resourceAttributes: { namespace: 'team', verb: 'get', group: '', resource: 'pods', subresource: 'log', name: 'sum-0' } },
    ]);
    leaving.abort(new Error('gone'));
    await done;
    expect(log.ended).toBe(true);
  });

  test('who may not read logs, or not see the Job, reads nothing, and no worker cluster is asked', async () => {
    refused = { pods: FORBIDDEN };
    expect(await reading().followLog('team', 'sum', 'sum-0', undefined, leaving.signal)).toEqual(FORBIDDEN);
    expect(await reading().pods('team', 'sum')).toEqual(FORBIDDEN);
    refused = { jobs: FORBIDDEN };
    const seen: Rights = { ...SEES_TEAM, namespaces: new Set(['other']) };
    expect(await reading({ seen }).followLog('team', 'sum', 'sum-0', undefined, leaving.signal)).toEqual(FORBIDDEN);
    expect(readings).toEqual([]);
  });

  test('who sees no other Job of the namespace may be allowed to get this one', async () => {
    const seen: Rights = { ...SEES_TEAM, namespaces: new Set() };
    expect(await reading({ seen }).pods('team', 'sum')).toMatchObject({ kind: 'Found' });
    expect(reviewed).toMatchObject([
      { resourceAttributes: { resource: 'jobs', name: 'sum' } },
      { resourceAttributes: { resource: 'pods' } },
    ]);
  });

  test('of a Job that is not there, and where worker clusters are not read, the answer says so', async () => {
    const none = { kind: 'Missing', what: 'there is no Job team/other' };
    expect(await reading().pods('team', 'other')).toEqual(none);
    expect(await reading().followLog('team', 'other', 'pod', undefined, leaving.signal)).toEqual(none);
    const unread = { kind: 'Missing', what: expect.stringContaining('switchyard logs team/sum --follow') as string };
    expect(await reading({ live: undefined }).pods('team', 'sum')).toEqual(unread);
    expect(await reading({ live: undefined }).followLog('team', 'sum', 'pod', undefined, leaving.signal)).toEqual(unread);
  });
});

describe('while it is read', () => {
  test('a log is checked every minute, and goes on for as long as nothing has changed', async () => {
    const { log, done } = await follow();
    await clock.advance(59_999);
    expect(reviewed).toHaveLength(1);
    await clock.advance(1);
    expect(reviewed).toHaveLength(2);
    await clock.advance(120_000);
    expect([reviewed.length, log.ended]).toEqual([4, false]);
    leaving.abort(new Error('gone'));
    await done;
    await clock.advance(120_000);
    expect(reviewed).toHaveLength(4);
  });

  test.each<[string, () => unknown]>([
    ['its reader may no longer read logs', () => (refused = { pods: FORBIDDEN })],
    ['the Job is deleted', () => jobs.remove('team/sum')],
    ['another Job has its name', () => jobs.set({ ...PLACED, metadata: { ...PLACED.metadata, uid: 'uid-other' } })],
    ['the Job has moved', () => jobs.set(anAdmittedJob({ metadata: { uid: 'uid-sum' } }, { cluster: 'us-2', epoch: 3 }))],
    ['the Job was placed there anew', () => jobs.set(anAdmittedJob({ metadata: { uid: 'uid-sum' } }, { cluster: 'eu-1', epoch: 4 }))],
  ])('it ends within a minute when %s', async (_when, change) => {
    const { log, done } = await follow();
    await clock.advance(60_000);
    change();
    await clock.advance(59_999);
    expect(log.ended).toBe(false);
    await clock.advance(1);
    await done;
    expect(log.ended).toBe(true);
    expect(readings[0]?.signal.aborted).toBe(true);
  });

  test('it goes on while the API server answers no reviews', async () => {
    const { log, done } = await follow();
    refused = { pods: BUSY };
    await clock.advance(180_000);
    expect(log.ended).toBe(false);
    leaving.abort(new Error('gone'));
    await done;
  });
});
