import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { expect, expectTypeOf, test } from 'vitest';
import { JobResultSchema, SubmissionPayloadSchema, SubmissionProgressSchema } from '../../../../../manager/api/schema/submissions.ts';
import { outcomeOf } from '../../../../../manager/submission/outcome.ts';
import { progressOf } from '../../../../../manager/submission/progress.ts';
import { submissionSchemaFiles } from '../../../../../scripts/generate-submission-schemas.ts';
import type { JobResult } from '../../../../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../../../../shared/api/submission-progress.ts';
import { bullmqJobOf, type SubmissionPayload } from '../../../../../shared/client/payload.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const FOLDER = path.join(import.meta.dirname, '../../../../../shared/client/schemas');

test('the JSON Schemas that go with the client are those that the types generate', () => {
  const committed = readdirSync(FOLDER).map((name) => [name, JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'))] as const);
  const generated = [...submissionSchemaFiles()].map(([name, text]) => [name, JSON.parse(text)] as const);
  // The formatter of the repository has its own mind about lines.
  expect(new Map(committed), 'run node scripts/generate-submission-schemas.ts').toEqual(new Map(generated));
});

test('they say what the types of the client say', () => {
  expectTypeOf<SubmissionProgress>().toExtend<Static<typeof SubmissionProgressSchema>>();
  expectTypeOf<Static<typeof SubmissionProgressSchema>>().toExtend<SubmissionProgress>();
  expectTypeOf<JobResult>().toExtend<Static<typeof JobResultSchema>>();
  expectTypeOf<Static<typeof JobResultSchema>>().toExtend<JobResult>();
  expectTypeOf<SubmissionPayload>().toExtend<Static<typeof SubmissionPayloadSchema>>();
  expectTypeOf<Static<typeof SubmissionPayloadSchema>>().toExtend<SubmissionPayload>();
});

test('what the client puts on the queue and what the manager tells conform to them', () => {
  expect(Value.Check(SubmissionPayloadSchema, bullmqJobOf({ kind: 'Job' }, 'k', { retry: true }).data)).toBe(true);
  const attachments = [{ name: 'settings', data: { a: '1' }, binaryData: { b: 'AA==' } }];
  expect(Value.Check(SubmissionPayloadSchema, bullmqJobOf({ kind: 'Job' }, 'k', { attachments }).data)).toBe(true);
  expect(Value.Check(SubmissionPayloadSchema, { manifest: {}, attachments: [{ name: 'a', kind: 'Secret' }] })).toBe(false);
  expect(Value.Check(SubmissionPayloadSchema, { manifest: 'x' })).toBe(false);
  const ended = anAdmittedJob({ status: { succeeded: 1, startTime: '2026-01-01T00:00:00Z', conditions: [aCondition('Complete')] } });
  for (const job of [aHomeJob(), anAdmittedJob(), ended])
    expect(Value.Check(SubmissionProgressSchema, progressOf(JOB_KIND, job))).toBe(true);
  const outcome = outcomeOf(JOB_KIND, ended);
  expect(outcome?.kind === 'Completed' && Value.Check(JobResultSchema, outcome.result)).toBe(true);
});
