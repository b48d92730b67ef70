import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import type { SubmissionQueue, SubmissionRef } from '../../../../manager/submission/submission-queue.ts';
import { createLogTailReporter, type TailedCopy, type LogTailReporter } from '../../../../manager/submission/log-tail-reporter.ts';
import type { ConfigMap, Job } from '../../../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION, SHARED_TENANT, SUBMISSION_SEAL_ANNOTATION } from '../../../../shared/api/names.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob, TEST_RECORD_KEYS } from '../../../support/jobs.ts';
import { submissionAnnotations, testSeal } from '../../../support/submissions.ts';

const KEY = { namespace: 'team', name: 'sum' };
const SEAL = testSeal(KEY, { id: 'nightly' });
const submitted = (seal = SEAL): Job =>
  aHomeJob({
    metadata: {
      ...KEY,
      uid: 'u',
      annotations: { ...submissionAnnotations({ id: 'nightly' }), [SUBMISSION_SEAL_ANNOTATION]: seal },
    },
  });
const ending = (copyUid: string, more: Partial<TailedCopy> = {}): TailedCopy => ({
  job: KEY,
  originUid: 'u',
  cluster: 'east',
  copy: aHomeJob({
    metadata: {
      ...KEY,
      uid: copyUid,
      annotations: { [ENDED_PODS_ANNOTATION]: '[{"pod":"sum-x","phase":"Failed","exitCode":3,"tail":true}]' },
    },
  }),
  tails: async () => {
    reads++;
    return { metadata: {}, binaryData: { 'sum-x': gzipSync('boom\n').toString('base64') } } as unknown as ConfigMap;
  },
  ...more,
});

let clock: FakeClock;
let job: Job | undefined;
let reads: number;
let told: { readonly id: string; readonly of: string; readonly rows: readonly string[] }[];
let answer: (ref: SubmissionRef, of: string, read: () => Promise<readonly string[]>) => Promise<void>;
let teller: LogTailReporter;

beforeEach(() => {
  clock = new FakeClock();
  job = submitted();
  reads = 0;
  told = [];
  answer = async ({ id }, of, read) => void told.push({ id, of, rows: await read() });
  teller = createLogTailReporter({
    queues: () => new Map([[SHARED_TENANT, { tellTails: (...asked) => answer(...asked) } as SubmissionQueue]]),
    jobs: { get: () => job, list: () => [] } as never,
    keys: TEST_RECORD_KEYS,
    clock,
    log: silentLogger,
  });
});

test('the ends of the logs of a copy go to the submission that its Job was made of, once', async () => {
  await teller.keep(ending('c1'));
  await teller.keep(ending('c1'));
  expect(told).toEqual([{ id: 'nightly', of: 'c1', rows: ['pod sum-x ended with exit code 3; the end of its log:\nboom'] }]);
});

test('nothing is read for a Job that came otherwise, that is another by now, or that only says that it was submitted', async () => {
  for (const other of [undefined, aHomeJob({ metadata: { ...KEY, uid: 'u' } }), submitted('forged')]) {
    job = other;
    await teller.keep(ending(`of-${other?.metadata.annotations?.[SUBMISSION_SEAL_ANNOTATION]}`));
  }
  job = submitted();
  await teller.keep(ending('c2', { originUid: 'another' }));
  await teller.keep(ending('c3', { copy: aHomeJob({ metadata: { ...KEY, uid: 'c3' } }) }));
  expect([told, reads]).toEqual([[], 0]);
});

test('a copy stays for two seconds at most where Redis does not answer, and no second one does', async () => {
  const answers = Promise.withResolvers<void>();
  answer = () => answers.promise;
  const kept: string[] = [];
  void teller.keep(ending('c1')).then(() => kept.push('c1'));
  await clock.advance(1_900);
  expect(kept).toEqual([]);
  await clock.advance(200);
  expect(kept).toEqual(['c1']);
  await teller.keep(ending('c2'));
  answers.resolve();
  await clock.advance(0);
  answer = () => Promise.reject(new Error('the connection is closed'));
  await teller.keep(ending('c3'));
});
