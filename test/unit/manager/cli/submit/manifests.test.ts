import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CommandError } from '../../../../../manager/cli/command-error.ts';
import { jobsOf, submissionsOf } from '../../../../../manager/cli/submit/manifests.ts';
import { QUEUE_NAME_LABEL } from '../../../../../shared/api/names.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const DEFAULTS = { namespace: 'team', queueOf: () => 'main' };
const aJob = (metadata: object = { name: 'a' }): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata,
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
});

describe('the Jobs of a file', () => {
  test('get namespace and queue where they name none, and are made Switchyard’s', () => {
    const [job] = jobsOf(JOB_KIND, 'f.yaml', stringify(aJob()), DEFAULTS);
    expect(job).toMatchObject({
      metadata: { name: 'a', namespace: 'team', labels: { [QUEUE_NAME_LABEL]: 'main' } },
      spec: { suspend: true, managedBy: 'switchyard.dev/manager' },
    });
  });

  test('keep what they name', () => {
    const own = { name: 'a', namespace: 'other', labels: { [QUEUE_NAME_LABEL]: 'own' } };
    expect(jobsOf(JOB_KIND, 'f.yaml', stringify(aJob(own)), DEFAULTS)[0]?.metadata).toMatchObject(own);
  });

  test('may be several documents, lists, or JSON', () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [aJob({ name: 'b' }), aJob({ name: 'c' })] };
    expect(
      jobsOf(JOB_KIND, 'f.yaml', `${stringify(aJob())}---\n${stringify(list)}---\n`, DEFAULTS).map(({ metadata }) => metadata.name),
    ).toEqual(['a', 'b', 'c']);
    expect(jobsOf(JOB_KIND, 'f.json', JSON.stringify(aJob()), DEFAULTS)).toHaveLength(1);
  });
});

describe('a file that is refused names itself, document and field', () => {
  test.each([
    ['a: [', /^f\.yaml: it is no YAML: /],
    ['', /^f\.yaml: there is no Job in it; write a batch\/v1 Job$/],
    [`${stringify(aJob())}---\nkind: Pod\n`, /^f\.yaml, document 2: apiVersion: must be batch\/v1; kind: must be Job/],
    [stringify({ ...aJob(), spec: { managedBy: 'x/y', template: { spec: { containers: [] } } } }), /^f\.yaml: spec\.managedBy: is "x\/y"/],
  ])('%j', (text, words) => {
    expect(() => jobsOf(JOB_KIND, 'f.yaml', text, DEFAULTS)).toThrow(CommandError);
    expect(() => jobsOf(JOB_KIND, 'f.yaml', text, DEFAULTS)).toThrow(words);
  });

  test('and so does one without a queue', () => {
    expect(() => jobsOf(JOB_KIND, 'f.yaml', stringify(aJob()), { namespace: 'team', queueOf: () => undefined })).toThrow(
      /queue-name\]: is missing/,
    );
  });
});

describe('the Jobs of a file, for a queue of submissions', () => {
  test('are what the file says: the queue knows where they go', () => {
    expect(submissionsOf(JOB_KIND, 'f.yaml', stringify(aJob()), undefined)).toEqual([aJob()]);
    expect(submissionsOf(JOB_KIND, 'f.yaml', stringify(aJob()), 'main')).toEqual([
      aJob({ name: 'a', labels: { [QUEUE_NAME_LABEL]: 'main' } }),
    ]);
    const own = { name: 'a', labels: { [QUEUE_NAME_LABEL]: 'own' } };
    expect(submissionsOf(JOB_KIND, 'f.yaml', stringify(aJob(own)), 'main')).toEqual([aJob(own)]);
    // Which other kinds are taken, the manager knows.
    const crew = { apiVersion: 'example.com/v1', kind: 'Crew', metadata: { name: 'argo' }, spec: {} };
    expect(submissionsOf(JOB_KIND, 'f.yaml', stringify(crew), undefined)).toEqual([crew]);
    expect(submissionsOf(JOB_KIND, 'f.yaml', stringify(crew), 'main')).toEqual([
      { ...crew, metadata: { name: 'argo', labels: { [QUEUE_NAME_LABEL]: 'main' } } },
    ]);
  });

  test('are refused where they are none', () => {
    expect(() => submissionsOf(JOB_KIND, 'f.yaml', 'kind: Pod', undefined)).toThrow(CommandError);
    expect(() => submissionsOf(JOB_KIND, 'f.yaml', '', undefined)).toThrow('there is no Job in it');
  });
});
