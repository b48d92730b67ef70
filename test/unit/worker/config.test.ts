import { describe, expect, test } from 'vitest';
import { parseFlags } from '../../../shared/runtime/flags.ts';
import { WORKER_PROGRAM } from '../../../worker/config.ts';

const configOf = (args: string[], environment: Record<string, string> = {}) => {
  const parsed = parseFlags(WORKER_PROGRAM, args, environment);
  if (parsed.kind !== 'Run') throw new Error(`expected a configuration, got ${JSON.stringify(parsed)}`);
  return parsed.config;
};
const complaintOf = (...args: string[]): string => {
  const parsed = parseFlags(WORKER_PROGRAM, args, {});
  return parsed.kind === 'Invalid' ? parsed.problem : parsed.kind;
};

describe('flags', () => {
  test('nothing given: the defaults', () => {
    expect(configOf([])).toEqual({
      kubeconfig: undefined,
      context: undefined,
      controllerName: 'switchyard.dev/worker',
      controllers: ['job'],
      concurrentJobSyncs: 5,
      concurrentTtlSyncs: 5,
      batchPeriodMs: 1000,
      namespaces: [],
      deniedNamespaces: ['kube-*'],
      fenceAfterMs: 60_000,
      leaseNamespace: 'switchyard-system',
      keepLogs: 'Failed',
      logTailBytes: 65_536,
      kubeApiQps: 50,
      kubeApiBurst: 100,
      leaderElection: undefined,
      metricsAddress: '127.0.0.1:0',
      metricsAuthentication: false,
      logLevel: 'info',
    });
  });

  test('a worker is bound to namespaces by a list, in which none counts twice', () => {
    expect(configOf(['--namespace', 'team-a']).namespaces).toEqual(['team-a']);
    expect(configOf(['--namespace=team-b, team-a,team-b']).namespaces).toEqual(['team-b', 'team-a']);
    expect(configOf([], { SWITCHYARD_NAMESPACE: 'team-a,team-b' }).namespaces).toEqual(['team-a', 'team-b']);
  });

  test.each(['Team', 'team-a,,team-b', ',', 'team-*', '-team', 'x'.repeat(64)])(
    '%j names no namespaces, and is refused with the remedy',
    (list) => {
      expect(complaintOf('--namespace', list)).toMatch(
        /^--namespace: "[^",]*" is no namespace; write names with commas between them, such as team-a,team-b$/,
      );
    },
  );

  test('namespaces are denied to copies, not to the Jobs of a cluster whose built-in controller is replaced', () => {
    const denied = ['--denied-namespaces', 'kube-*,vault'];
    expect(configOf(denied).deniedNamespaces).toEqual(['kube-*', 'vault']);
    expect(configOf([...denied, '--controller-name', 'kubernetes.io/job-controller']).deniedNamespaces).toEqual([]);
    expect(complaintOf('--denied-namespaces', 'Vault')).toMatch(/^--denied-namespaces: "Vault" is neither a namespace nor/);
  });

  test('a flag outranks its environment variable, which outranks the default', () => {
    const environment = { SWITCHYARD_KUBE_API_QPS: '7', SWITCHYARD_CONCURRENT_JOB_SYNCS: '3' };
    expect(configOf(['--kube-api-qps', '9'], environment)).toMatchObject({ kubeApiQps: 9, concurrentJobSyncs: 3, kubeApiBurst: 100 });
  });

  test('lists, durations and switches', () => {
    const args = ['--controllers=job,ttl-after-finished', '--job-batch-period', '250ms', '--leader-elect', '--metrics-bind-address=0'];
    expect(configOf(args)).toMatchObject({
      controllers: ['job', 'ttl-after-finished'],
      batchPeriodMs: 250,
      leaderElection: { namespace: undefined, name: 'switchyard-worker', leaseDurationMs: 3_000 },
      metricsAddress: undefined,
      metricsAuthentication: false,
    });
    expect(configOf(['--leader-elect=false'], { SWITCHYARD_LEADER_ELECT: 'true' }).leaderElection).toBeUndefined();
  });

  test('no fence is 0, with or without a unit', () => {
    expect([configOf(['--fence-after=0']).fenceAfterMs, configOf(['--fence-after=0s']).fenceAfterMs]).toEqual([0, 0]);
    expect(configOf(['--fence-after=2m', '--lease-namespace=leases'])).toMatchObject({ fenceAfterMs: 120_000, leaseNamespace: 'leases' });
  });

  test.each([
    [['--controllers', 'jobs'], '--controllers: "jobs" is unknown; choose from job, ttl-after-finished'],
    [['--controllers', ','], '--controllers: names no controller; choose from job, ttl-after-finished'],
    [['--concurrent-job-syncs', '0'], '--concurrent-job-syncs: "0" cannot be used; write a whole number of at least 1'],
    [
      ['--fence-after', '2s'],
      '--fence-after: 2s is too short for a manager to be noticed; write 0, or at least 5s and three times its --fence-renew-interval',
    ],
    [['--log-level', 'loud'], '--log-level: "loud" is unknown; choose from debug, info, warn, error'],
    [
      ['--controller-name', 'me'],
      '--controller-name: "me" is no value of spec.managedBy; write a domain and a path, such as switchyard.dev/worker',
    ],
  ])('%j is answered in one line with the remedy', (args, complaint) => {
    expect(complaintOf(...args)).toBe(complaint);
  });
});
