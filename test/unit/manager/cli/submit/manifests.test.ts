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

/** The manifests of submissions that bring nothing along. */
const manifestsOf = (...given: Parameters<typeof submissionsOf>): readonly object[] =>
  submissionsOf(...given).map(({ manifest, attachments }) => {
    expect(attachments).toEqual([]);
    return manifest;
  });

describe('the Jobs of a file, for a queue of submissions', () => {
  test('are what the file says: the queue knows where they go', () => {
    expect(manifestsOf(JOB_KIND, 'f.yaml', stringify(aJob()), undefined)).toEqual([aJob()]);
    expect(manifestsOf(JOB_KIND, 'f.yaml', stringify(aJob()), 'main')).toEqual([
      aJob({ name: 'a', labels: { [QUEUE_NAME_LABEL]: 'main' } }),
    ]);
    const own = { name: 'a', labels: { [QUEUE_NAME_LABEL]: 'own' } };
    expect(manifestsOf(JOB_KIND, 'f.yaml', stringify(aJob(own)), 'main')).toEqual([aJob(own)]);
    // Which other kinds are taken, the manager knows.
    const crew = { apiVersion: 'example.com/v1', kind: 'Crew', metadata: { name: 'argo' }, spec: {} };
    expect(manifestsOf(JOB_KIND, 'f.yaml', stringify(crew), undefined)).toEqual([crew]);
    expect(manifestsOf(JOB_KIND, 'f.yaml', stringify(crew), 'main')).toEqual([
      { ...crew, metadata: { name: 'argo', labels: { [QUEUE_NAME_LABEL]: 'main' } } },
    ]);
  });

  test('are refused where they are none', () => {
    expect(() => submissionsOf(JOB_KIND, 'f.yaml', 'kind: Pod', undefined)).toThrow(CommandError);
    expect(() => submissionsOf(JOB_KIND, 'f.yaml', '', undefined)).toThrow('there is no Job in it');
  });

  const referring = (name: string, configMap: string): object => ({
    ...aJob({ name }),
    spec: { template: { spec: { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: configMap } }] }] } } },
  });
  const configMap = (name: string, parts: object = { data: { a: '1' } }): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'x' } },
    ...parts,
  });
  const documents = (...all: readonly object[]): string => all.map((each) => stringify(each)).join('---\n');

  test('take along the ConfigMaps of their file that they refer to', () => {
    const bytes = { binaryData: { b: 'AA==' } };
    const text = documents(configMap('one'), referring('a', 'one'), referring('b', 'two'), aJob({ name: 'c' }), configMap('two', bytes));
    expect(submissionsOf(JOB_KIND, 'f.yaml', text, undefined).map(({ attachments }) => attachments)).toEqual([
      [{ name: 'one', data: { a: '1' } }],
      [{ name: 'two', ...bytes }],
      [],
    ]);
    const crew = { apiVersion: 'example.com/v1', kind: 'Crew', metadata: { name: 'argo' }, spec: {} };
    expect(submissionsOf(JOB_KIND, 'f.yaml', documents(crew, configMap('one')), undefined)).toEqual([
      { manifest: crew, attachments: [{ name: 'one', data: { a: '1' } }] },
    ]);
  });

  test.each([
    [documents(configMap('one')), /^f\.yaml: there is no Job in it/],
    [
      documents(aJob(), configMap('one')),
      /^f\.yaml: no Job of this file refers to its ConfigMap one; refer to it by this name, or leave it out$/,
    ],
    [
      documents(referring('a', 'one'), configMap('one', { data: { a: 1 } })),
      /^f\.yaml, document 2: data\[a]: is no text; put it in quotes$/,
    ],
    [documents(referring('a', 'One'), configMap('One')), /^f\.yaml, document 2: name: a lowercase RFC 1123 subdomain/],
  ])('and a file whose ConfigMaps cannot go along is refused: %j', (text, words) => {
    expect(() => submissionsOf(JOB_KIND, 'f.yaml', text, undefined)).toThrow(words);
  });
});
