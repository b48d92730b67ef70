import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import type { CopyOptions } from '../../../../../manager/work-kind/copy-options.ts';
import { requestsOf } from '../../../../../manager/work-kind/pod-sets.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { asCrd } from '../../../../../shared/controlplane/crd/crd.ts';
import { resourcesFromCrd } from '../../../../../shared/controlplane/crd/custom-resource.ts';
import { decodeObject } from '../../../../../shared/controlplane/schema/decode.ts';
import type { WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { SHIPPED, SHIPPED_LINES, shippedKind } from './described.ts';
import { anObject, condition, rayCluster, sampleOf, SAMPLES, template } from './kind-samples.ts';

const OPTIONS: CopyOptions = { origin: 'manager-1', epoch: 1, jobController: 'switchyard.dev/worker', local: false, flavors: [] };
const KINDS = [...SHIPPED.keys()].toSorted();

test('no description has more than 40 lines, and each has a sample', () => {
  expect([...SHIPPED_LINES].filter(([, lines]) => lines > 40)).toEqual([]);
  expect(Object.keys(SAMPLES).toSorted()).toEqual(KINDS);
});

describe.each(KINDS)('%s', (name) => {
  const kind = shippedKind(name);
  const sample = sampleOf(name);
  const copyOf = (status?: object, suspended = false): WorkObject => {
    const { metadata, ...copy } = kind.copies.of(kind.prepared(anObject(name)), OPTIONS);
    const saved = {
      ...copy,
      metadata: { ...anObject(name).metadata, ...metadata },
      ...(status === undefined ? {} : { status }),
    } as WorkObject;
    const full = suspended ? (kind.copies.suspended(saved) as WorkObject) : saved;
    return kind.copies.essentials(full, false);
  };

  test('is taken, with all of its pods and what they request', () => {
    const object = anObject(name);
    expect(kind.ruleProblems(object, DEFAULT_JOB_RULES)).toEqual([]);
    expect(kind.podSets(object).map((podSet) => [podSet.name, podSet.count])).toEqual(sample.podSets);
    expect(requestsOf(kind.podSets(object)).requests.get('cpu')).toBe(sample.cpu);
    expect(kind.podsAtOnce(object)).toBe(sample.podSets.reduce((sum, [, count]) => sum + count, 0));
  });

  test('is suspended and kept from its operator at home, and run by it as a copy', () => {
    const home = kind.prepared(anObject(name));
    expect([kind.isSuspended(home), kind.controllerOf(home)]).toEqual([true, 'switchyard.dev/manager']);
    expect(JSON.stringify(home.spec)).toContain(`"managedBy":"${sample.managedBy}"`);
    const copy = kind.copies.of(home, OPTIONS);
    expect([kind.isSuspended(copy), JSON.stringify(copy.spec).includes('managedBy')]).toEqual([false, false]);
  });

  test('starts, is ready, rests once it is suspended, and ends by its own status', () => {
    const state = (copy: WorkObject) => ({
      begun: !kind.copies.isUnbegun(copy),
      ready: kind.progress(copy).ready > 0,
      rests: kind.copies.isAtRest(copy),
      ended: kind.home.hasVerdict(copy),
    });
    const none = { begun: false, ready: false, rests: false, ended: false };
    expect(state(copyOf())).toEqual(none);
    expect(state(copyOf(sample.running))).toEqual({ ...none, begun: true });
    expect(state(copyOf(sample.ready))).toEqual({ ...none, begun: true, ready: true });
    expect(state(copyOf(sample.rests, true))).toEqual({ ...none, rests: true });
    expect(state(copyOf(sample.rests))).toEqual(none);
    expect(state(copyOf(sample.ready, true)).rests).toBe(false);
    expect(state(copyOf({}, true)).rests).toBe(false);
  });

  test.runIf(sample.reason !== '')('is complete at home, by the reason of its kind', () => {
    const end = copyOf(sample.ended).status?.conditions?.find(({ type }) => type === 'Complete');
    expect(end).toMatchObject({ status: 'True', reason: sample.reason });
  });

  test('keeps what its operator says, with no status of its own in the way', () => {
    const copy = copyOf(sample.ready);
    const home = kind.home.of({ local: anObject(name), remote: copy.status, own: [], nowMs: 0 });
    const { conditions: said, ...fields } = home;
    expect(fields).toEqual(Object.fromEntries(Object.entries(sample.ready).filter(([field]) => field !== 'conditions')));
    expect(said?.every((each) => !('lastProbeTime' in each))).toBe(true);
  });
});

describe('what a description cannot see is refused', () => {
  test.each([
    ['RayJob', { clusterSelector: { a: 'b' } }, 'spec.clusterSelector'],
    ['RayJob', { shutdownAfterJobFinishes: false }, 'spec.shutdownAfterJobFinishes'],
    ['RayJob', { rayClusterSpec: { ...rayCluster, enableInTreeAutoscaling: true } }, 'spec.rayClusterSpec.enableInTreeAutoscaling'],
    ['RayCluster', { enableInTreeAutoscaling: true }, 'spec.enableInTreeAutoscaling'],
    ['PyTorchJob', { elasticPolicy: { minReplicas: 1, metrics: [] } }, 'spec.elasticPolicy.metrics'],
    ['TrainJob', { trainer: { numNodes: 2 } }, 'spec.trainer'],
    ['TrainJob', { initializer: {} }, 'spec.initializer'],
    ['AppWrapper', { components: [{ template: {} }] }, 'spec.components'],
  ])('%s with %j', (kind, spec, field) => {
    expect(shippedKind(kind).ruleProblems(anObject(kind, { spec }), DEFAULT_JOB_RULES)[0]?.field).toBe(field);
  });
});

test('a RayJob that submits by HTTP has no submitter, and one with a template of its own has that', () => {
  const kind = shippedKind('RayJob');
  const names = (spec: object) => kind.podSets(anObject('RayJob', { spec })).map(({ name }) => name);
  expect(names({ submissionMode: 'HTTPMode' })).toEqual(['head', 'workers-small', 'workers-slices']);
  const own = kind.podSets(anObject('RayJob', { spec: { submitterPodTemplate: template('4') } })).at(-1);
  expect(own?.template.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '4' } });
});

test('of a JobSet, the pods of replicated Jobs that have succeeded are finished, unless it may be restarted', () => {
  const kind = shippedKind('JobSet');
  const status = { replicatedJobsStatus: [{ name: 'workers', succeeded: 1, active: 1, ready: 1 }] };
  const finished = (spec: object) => kind.podSets(anObject('JobSet', { spec, status })).map(({ name, finished: pods }) => [name, pods]);
  expect(finished({})).toEqual([
    ['driver', 0],
    ['workers', 3],
  ]);
  expect(finished({ failurePolicy: { maxRestarts: 3 } })).toEqual([
    ['driver', 0],
    ['workers', 0],
  ]);
});

test('an elastic PyTorchJob may have fewer workers, and as many masters', () => {
  const kind = shippedKind('PyTorchJob');
  const elastic = anObject('PyTorchJob', { spec: { elasticPolicy: { minReplicas: 1 } } });
  expect(kind.podSets(elastic).map(({ minCount }) => minCount)).toEqual([1, 1]);
  const podSets = kind
    .podSets(elastic)
    .map(({ name }) => ({ name, flavors: {}, requests: {}, ...(name === 'worker' ? { count: 1 } : {}) }));
  expect(kind.podSets(kind.admittedPart(elastic, { parallelism: 2, podSets })).map(({ count }) => count)).toEqual([1, 1]);
});

test.each([
  ['RayJob', { jobDeploymentStatus: 'Complete', jobStatus: 'STOPPED', reason: 'AppFailed', message: 'm' }, 'AppFailed'],
  ['RayJob', { jobDeploymentStatus: 'Failed', jobStatus: 'FAILED' }, 'Failed'],
  ['JobSet', { conditions: [condition('Completed', 'False'), condition('Failed', 'True', 'FailedJobs')] }, 'FailedJobs'],
  ['MPIJob', { conditions: [condition('Succeeded', 'False'), condition('Failed', 'True', 'MPIJobEvicted')] }, 'MPIJobEvicted'],
  ['AppWrapper', { phase: 'Failed' }, 'Failed'],
])('a %s with %j has failed: %s', (name, status, reason) => {
  const kind = shippedKind(name);
  const copy = kind.copies.essentials(anObject(name, { status }), false);
  expect(copy.status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({ status: 'True', reason });
});

const PUBLISHED = path.join(import.meta.dirname, '../../../../../../shared/kinds');
const published = existsSync(PUBLISHED) ? readdirSync(PUBLISHED).filter((name) => name.endsWith('.json')) : [];

describe.runIf(published.length > 0)('by its published definition', () => {
  test.each(published)('%s takes the sample at home, its copy, and the status that comes home', (file) => {
    const crd = asCrd(JSON.parse(readFileSync(path.join(PUBLISHED, file), 'utf8')) as AnyObject);
    const name = crd.spec?.names?.kind ?? '';
    const kind = shippedKind(name);
    const definitions = resourcesFromCrd({ ...crd, status: { acceptedNames: crd.spec?.names ?? {} } });
    const served = definitions.find(({ definition }) => definition.version === kind.resource.version);
    if (served === undefined) throw new Error(`${file} does not serve ${kind.resource.version}`);
    const problems = (object: unknown): string[] => {
      const decoded = decodeObject(JSON.stringify(object), 'application/json', served.schema, 'Strict').object;
      served.definition.strategy.applyDefaults?.(decoded);
      return (served.definition.strategy.validateCreate?.(decoded) ?? []).map(({ field, body }) => `${field}: ${body}`);
    };
    const home = kind.prepared(anObject(name));
    const { ready } = sampleOf(name);
    const copy = kind.copies.essentials(anObject(name, { status: ready }), false);
    const own = [{ type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'on a' }] as const;
    const { status } = kind.home.stored(kind.home.of({ local: home, remote: copy.status, own, nowMs: 0 }));
    expect(problems(home)).toEqual([]);
    expect(problems({ ...home, status })).toEqual([]);
    const { metadata, ...rest } = kind.copies.of(home, OPTIONS);
    expect(problems({ ...rest, metadata: { ...metadata, uid: 'copy' } })).toEqual([]);
  });
});
