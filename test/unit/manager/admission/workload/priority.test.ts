import { describe, expect, test } from 'vitest';
import {
  priorityClassesOf,
  priorityWishOf,
  resolvePriority,
  type PriorityWish,
} from '../../../../../manager/admission/workload/priority.ts';
import type { PriorityClass } from '../../../../../manager/api/priority-class.ts';
import { PRIORITY_ANNOTATION, PRIORITY_CLASS_LABEL } from '../../../../../shared/api/names.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const aClass = (name: string, value: number, globalDefault = false): PriorityClass => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  value,
  globalDefault,
});
const CLASSES = priorityClassesOf([aClass('nightly', -10)], [aClass('high', 1000), aClass('system-node-critical', 2_000_001_000)]);
const resolved = (wish: PriorityWish, bounds?: { min?: number; max?: number }, classes = CLASSES): number | string => {
  const priority = resolvePriority(wish, classes, bounds);
  return priority.kind === 'Priority' ? priority.value : `${priority.reason}: ${priority.message}`;
};

describe('what a Job says about its priority', () => {
  test('is a label, an annotation, and the class of its pods', () => {
    const metadata = { labels: { [PRIORITY_CLASS_LABEL]: 'nightly' }, annotations: { [PRIORITY_ANNOTATION]: '7' } };
    const spec = { template: { spec: { containers: [], priorityClassName: 'high' } } };
    expect(priorityWishOf({ metadata: aHomeJob({ metadata }).metadata }, spec.template.spec)).toEqual({
      workloadClass: 'nightly',
      annotated: 7,
      podClass: 'high',
    });
    expect(priorityWishOf(aHomeJob(), undefined)).toEqual({});
    expect(priorityWishOf(aHomeJob({ metadata: { labels: { [PRIORITY_CLASS_LABEL]: '' } } }), undefined)).toEqual({});
  });
});

describe('the priority of a Job is', () => {
  test('that of the class that its label names, whatever else it says', () => {
    expect(resolved({ workloadClass: 'nightly', annotated: 5, podClass: 'high' })).toBe(-10);
    expect(resolved({ workloadClass: 'high' })).toBe('PriorityClassNotFound: workload priority class high does not exist');
  });

  test('the number it gives itself, where the queue lets it', () => {
    expect([resolved({ annotated: 0 }), resolved({ annotated: -(2 ** 31), podClass: 'high' })]).toEqual([0, -(2 ** 31)]);
    expect(resolved({ annotated: 1 })).toBe(
      'PriorityNotAllowed: priority 1 is not among those that the local queue lets Jobs choose (at most 0); choose one of them, or label the Job with switchyard.dev/priority-class',
    );
    const bounds = { min: -5, max: 5 };
    expect([resolved({ annotated: 5 }, bounds), resolved({ annotated: -5 }, bounds)]).toEqual([5, -5]);
    expect(resolved({ annotated: 6 }, bounds)).toMatch(/^PriorityNotAllowed: .* \(from -5 to 5\)/);
    expect(resolved({ annotated: -6 }, bounds)).toMatch(/^PriorityNotAllowed/);
  });

  test('that of the WorkloadPriorityClass default, if there is one and the Job states none, whatever the class of its pods', () => {
    const classes = priorityClassesOf([aClass('default', 30), aClass('nightly', -10)], [aClass('high', 1000), aClass('low', -1, true)]);
    expect(resolved({}, undefined, classes)).toBe(30);
    expect(resolved({ podClass: 'high' }, undefined, classes)).toBe(30);
    expect(resolved({ podClass: 'gone' }, undefined, classes)).toBe(30);
    expect(resolved({ workloadClass: 'nightly' }, undefined, classes)).toBe(-10);
    expect(resolved({ annotated: -3, podClass: 'high' }, undefined, classes)).toBe(-3);
    const without = priorityClassesOf([], [aClass('default', 9), aClass('low', -1, true)]);
    expect(resolved({}, undefined, without)).toBe(-1);
  });

  test('that of the class of its pods, unless that is the system’s', () => {
    expect(resolved({ podClass: 'high' })).toBe(1000);
    expect(resolved({ podClass: 'nightly' })).toBe('PriorityClassNotFound: priority class nightly does not exist');
    expect(resolved({ podClass: 'system-node-critical' })).toBe(0);
  });

  test('the default of the cluster where it says nothing', () => {
    expect(resolved({})).toBe(0);
    expect(resolved({}, undefined, priorityClassesOf([], [aClass('a', 7, true), aClass('b', 5, true), aClass('c', 1)]))).toBe(5);
  });
});
