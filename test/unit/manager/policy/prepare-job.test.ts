import { describe, expect, test } from 'vitest';
import { formatProblems } from '../../../../manager/api/field-problem.ts';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import { prepareJob, readJobManifest, type JobManifest } from '../../../../manager/policy/prepare-job.ts';
import {
  ADMISSION_ANNOTATION,
  CLUSTERS_ANNOTATION,
  KUEUE_MAX_EXEC_TIME_LABEL,
  KUEUE_MIN_PARALLELISM_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  ORIGIN_LABEL,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../../../shared/api/names.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';

const manifest = (parts: { metadata?: object; spec?: object } = {}): JobManifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a', labels: { [QUEUE_NAME_LABEL]: 'main' }, ...parts.metadata },
  spec: { template: { spec: { containers: [] } }, ...parts.spec },
});
const problems = (job: JobManifest): string => {
  const preparation = prepareJob(JOB_KIND, job);
  return preparation.kind === 'Refused' ? formatProblems(preparation.problems) : '';
};

describe('preparing a Job', () => {
  test('suspends it and makes it the manager’s, and leaves the argument alone', () => {
    const job = manifest({ spec: { suspend: false } });
    expect(prepareJob(JOB_KIND, job)).toMatchObject({
      kind: 'Prepared',
      job: { spec: { suspend: true, managedBy: 'switchyard.dev/manager' } },
    });
    expect(job.spec.suspend).toBe(false);
    expect(job.spec.managedBy).toBeUndefined();
  });

  test('the built-in controller’s name means the same as none, any other is a clash', () => {
    expect(problems(manifest({ spec: { managedBy: 'kubernetes.io/job-controller' } }))).toBe('');
    expect(problems(manifest({ spec: { managedBy: 'kueue.x-k8s.io/multikueue' } }))).toMatch(
      /^spec.managedBy: is "kueue.x-k8s.io\/multikueue"/,
    );
  });

  test('without a queue it is refused, and Kueue’s label is none', () => {
    for (const labels of [{}, { [KUEUE_QUEUE_NAME_LABEL]: 'main' }]) {
      expect(problems(manifest({ metadata: { labels } }))).toMatch(
        /switchyard.dev\/queue-name\]: is missing; set it to the name of a LocalQueue/,
      );
    }
  });

  test('Kueue’s label becomes ours where the administrator has it so, and ours outranks it', () => {
    const rules = { ...DEFAULT_JOB_RULES, kueueQueueLabel: true };
    const labelsOf = (labels: Record<string, string>): unknown => {
      const preparation = prepareJob(JOB_KIND, manifest({ metadata: { labels } }), rules);
      return preparation.kind === 'Prepared' ? preparation.job.metadata.labels : preparation.problems.map(({ field }) => field);
    };
    expect(labelsOf({ [KUEUE_QUEUE_NAME_LABEL]: 'main' })).toEqual({ [KUEUE_QUEUE_NAME_LABEL]: 'main', [QUEUE_NAME_LABEL]: 'main' });
    const limited = { [KUEUE_QUEUE_NAME_LABEL]: 'main', [KUEUE_MAX_EXEC_TIME_LABEL]: '60' };
    expect(labelsOf(limited)).toEqual({ ...limited, [QUEUE_NAME_LABEL]: 'main', [MAX_EXEC_TIME_LABEL]: '60' });
    expect(labelsOf({ ...limited, [MAX_EXEC_TIME_LABEL]: '30' })).toMatchObject({ [MAX_EXEC_TIME_LABEL]: '30' });
    expect(labelsOf({ [QUEUE_NAME_LABEL]: 'ours', ...limited })).not.toHaveProperty(MAX_EXEC_TIME_LABEL);
    expect(labelsOf({ ...limited, [KUEUE_MAX_EXEC_TIME_LABEL]: 'long' })).toEqual([
      'metadata.labels[switchyard.dev/max-exec-time-seconds]',
    ]);
    const both = { [KUEUE_QUEUE_NAME_LABEL]: 'main', [QUEUE_NAME_LABEL]: 'ours' };
    expect(labelsOf(both)).toEqual(both);
    expect(labelsOf({ [KUEUE_QUEUE_NAME_LABEL]: '' })).toEqual(['metadata.labels[switchyard.dev/queue-name]']);
    expect(labelsOf({ [KUEUE_QUEUE_NAME_LABEL]: 'main', [QUEUE_NAME_LABEL]: '' })).toEqual(['metadata.labels[switchyard.dev/queue-name]']);
  });

  test('the fewest pods of a Job come from Kueue’s annotation, too, and are fewer than it has', () => {
    const rules = { ...DEFAULT_JOB_RULES, kueueQueueLabel: true };
    const fewest = (annotation: string, pods: string, spec: object = { parallelism: 8, completions: 8 }): unknown => {
      const labels = { [KUEUE_QUEUE_NAME_LABEL]: 'main' };
      const job = manifest({ metadata: { labels, annotations: { [annotation]: pods } } });
      const preparation = prepareJob(JOB_KIND, { ...job, spec: { ...job.spec, ...spec } }, rules);
      return preparation.kind === 'Prepared' ? preparation.job.metadata.annotations : preparation.problems.map(({ problem }) => problem);
    };
    expect(fewest(KUEUE_MIN_PARALLELISM_ANNOTATION, '3')).toMatchObject({ [MIN_PARALLELISM_ANNOTATION]: '3' });
    expect(fewest(MIN_PARALLELISM_ANNOTATION, '8')).toEqual([
      'is 8; it must be less than the 8 pods that the Job may have at once, or be left out',
    ]);
    expect(fewest(KUEUE_MIN_PARALLELISM_ANNOTATION, '2', { parallelism: 8, completions: 2 })).toHaveLength(1);
    expect(fewest(MIN_PARALLELISM_ANNOTATION, 'x')).toEqual(['is "x"; it must be a number of pods from 1 on, such as "4"']);
  });

  test('what only Switchyard writes is refused, all of it at once', () => {
    const text = problems(
      manifest({
        metadata: { labels: { [QUEUE_NAME_LABEL]: 'main', [ORIGIN_LABEL]: 'x' }, annotations: { [ADMISSION_ANNOTATION]: '{}' } },
      }),
    );
    expect(text).toMatch(/admission\]: is written by Switchyard only; remove it; .*origin\]: is written/);
  });

  test('wishes that cannot be read are refused before the Job exists', () => {
    expect(
      problems(manifest({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations: { [PRIORITY_ANNOTATION]: 'high' } } })),
    ).toMatch(/must be a 32-bit integer/);
    expect(
      problems(manifest({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations: { [CLUSTERS_ANNOTATION]: 'region in' } } })),
    ).toMatch(/neither a list of cluster names nor a label selector/);
  });
});

describe('reading a submitted manifest', () => {
  const refusal = (value: unknown): string => {
    const read = readJobManifest(JOB_KIND, value);
    return read.kind === 'Refused' ? formatProblems(read.problems) : '';
  };

  test('what is no Job is refused with every field that is wrong', () => {
    expect(refusal('apiVersion: batch/v1')).toBe('manifest: must be a batch/v1 Job as a JSON object');
    expect(refusal({ apiVersion: 'v1', kind: 'Pod' })).toBe(
      'apiVersion: must be batch/v1; kind: must be Job; metadata: is missing; name at least a queue in its labels; spec: is missing',
    );
    expect(refusal({ ...manifest(), spec: {} })).toBe('spec.template: is missing');
    expect(refusal(manifest({ metadata: { labels: { size: 3 } } }))).toBe('metadata.labels[size]: must be a string; put it in quotes');
    expect(refusal(manifest({ metadata: { ownerReferences: [] } }))).toMatch(/^metadata.ownerReferences/);
  });

  test('what an API server had written into it is left out', () => {
    const read = readJobManifest(JOB_KIND, {
      ...manifest({ metadata: { name: 'a', uid: 'u', resourceVersion: '5', creationTimestamp: null, managedFields: [] } }),
      status: { active: 1 },
    });
    expect(read).toEqual({
      kind: 'Manifest',
      manifest: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'a', labels: { [QUEUE_NAME_LABEL]: 'main' } },
        spec: manifest().spec,
      },
    });
  });

  test('its kind is found by apiVersion and kind, and the object is known by its qualified name', () => {
    const kinds = createKinds(JOB_KIND, [aCrewKind()]);
    const read = (value: object) => readJobManifest(kinds, value);
    expect(read(aCrew())).toMatchObject({
      qualifier: 'crews.example.com',
      manifest: { kind: 'Crew', metadata: { name: 'crews.example.com:argo' } },
    });
    expect(read(manifest())).toMatchObject({ manifest: { kind: 'Job', metadata: { name: 'a' } } });
    const { name: _name, ...unnamed } = aCrew().metadata;
    expect(read({ ...aCrew(), metadata: { ...unnamed, generateName: 'argo-' } })).toMatchObject({
      manifest: { metadata: { name: 'crews.example.com:', generateName: 'argo-' } },
    });
    const problemsOf = (value: object): string => {
      const found = read(value);
      return found.kind === 'Refused' ? formatProblems(found.problems) : '';
    };
    expect(problemsOf({ ...aCrew(), apiVersion: 'example.com/v2' })).toBe('apiVersion: must be example.com/v1');
    expect(problemsOf({ ...aCrew(), spec: { ...(aCrew().spec as object), groups: [] } })).toBe('spec.groups: must have a group');
    const taken = 'and the manager takes batch/v1 Job, example.com/v1 Crew';
    expect(problemsOf({ ...manifest(), kind: 'CronJob' })).toBe(`apiVersion and kind: are "batch/v1 CronJob", ${taken}`);
    expect(problemsOf({ ...manifest(), apiVersion: 'example.com/v1' })).toBe(`apiVersion and kind: are "example.com/v1 Job", ${taken}`);
    expect(problemsOf({ metadata: {}, spec: {} })).toBe(`apiVersion and kind: are "none none", ${taken}`);
  });

  test('a name that would be that of an object of another kind is refused', () => {
    for (const field of ['name', 'generateName'])
      expect(refusal(manifest({ metadata: { [field]: 'crews.example.com:argo' } }))).toBe(`metadata.${field}: has a colon; leave it out`);
  });

  test('fields that are newer than our types survive', () => {
    const read = readJobManifest(
      JOB_KIND,
      manifest({ spec: { template: { spec: { containers: [], futureField: 1 } }, anotherOne: true } }),
    );
    expect(read).toMatchObject({ manifest: { spec: { anotherOne: true, template: { spec: { futureField: 1 } } } } });
  });
});
