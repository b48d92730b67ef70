import { describe, expect, test } from 'vitest';
import { matchPodFailurePolicy } from '../../../../worker/job/pod-failure-policy.ts';
import { aPod, onExitCodes } from './situation.ts';

const failed = aPod({ name: 'p', phase: 'Failed', exitCode: 42 });

describe('exit codes', () => {
  test('In matches a listed code and tells the container, the code and the rule', () => {
    expect(matchPodFailurePolicy(onExitCodes('FailJob', 1, 42), failed)).toEqual({
      action: 'FailJob',
      counts: true,
      message: 'Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 0',
    });
  });
  test('NotIn matches a code that is not listed, but never 0', () => {
    const notIn = (...values: number[]) => ({ rules: [{ action: 'Count', onExitCodes: { operator: 'NotIn', values } }] });
    expect(matchPodFailurePolicy(notIn(1), failed).action).toBe('Count');
    expect(matchPodFailurePolicy(notIn(42), failed).action).toBeUndefined();
    expect(matchPodFailurePolicy(notIn(5), aPod({ phase: 'Failed', exitCode: 0 })).action).toBeUndefined();
  });
  test('an unknown operator never matches', () => {
    expect(
      matchPodFailurePolicy({ rules: [{ action: 'Ignore', onExitCodes: { operator: 'Near', values: [42] } }] }, failed).action,
    ).toBeUndefined();
  });
  test('a rule for another container does not match', () => {
    const forOther = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42], containerName: 'other' } }] };
    expect(matchPodFailurePolicy(forOther, failed)).toEqual({ action: undefined, counts: true });
  });
  test('init containers are looked at after the regular ones', () => {
    const pod = aPod({ phase: 'Failed', exitCode: 0 });
    const init = { name: 'init', image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { terminated: { exitCode: 7 } } };
    expect(
      matchPodFailurePolicy(onExitCodes('FailJob', 7), { ...pod, status: { ...pod.status, initContainerStatuses: [init] } }).message,
    ).toBe('Container init for pod ns/pod-x failed with exit code 7 matching FailJob rule at index 0');
  });
});

describe('pod conditions', () => {
  const onDisruption = (action: string) => ({ rules: [{ action, onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] });
  test('type and status must both be equal', () => {
    expect(
      matchPodFailurePolicy(onDisruption('Ignore'), aPod({ phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] })),
    ).toEqual({
      action: 'Ignore',
      counts: false,
    });
    expect(
      matchPodFailurePolicy(onDisruption('Ignore'), aPod({ phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'False' }] }))
        .action,
    ).toBeUndefined();
  });
  test('the message names the condition', () => {
    const pod = aPod({ name: 'p', phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    expect(matchPodFailurePolicy(onDisruption('FailJob'), pod).message).toBe(
      'Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0',
    );
  });
});

describe('the order of rules', () => {
  test('the first match decides', () => {
    const policy = { rules: [...onExitCodes('Ignore', 42).rules, ...onExitCodes('FailJob', 42).rules] };
    expect(matchPodFailurePolicy(policy, failed).action).toBe('Ignore');
  });
  test('an unknown action does not stop the scan, and the index counts every rule', () => {
    const policy = { rules: [...onExitCodes('Explode', 42).rules, ...onExitCodes('FailJob', 42).rules] };
    expect(matchPodFailurePolicy(policy, failed).message).toMatch(/index 1$/);
  });
  test('FailIndex counts', () => {
    expect(matchPodFailurePolicy(onExitCodes('FailIndex', 42), failed)).toEqual({ action: 'FailIndex', counts: true });
  });
  test('without a policy every failure counts', () => {
    expect(matchPodFailurePolicy(undefined, failed)).toEqual({ action: undefined, counts: true });
  });
});
