import { describe, expect, test } from 'vitest';
import { parseFlags } from '../../../worker/config.ts';

const configOf = (args: string[], environment: Record<string, string> = {}) => {
  const parsed = parseFlags(args, environment);
  if (parsed.kind !== 'run') throw new Error(`expected a configuration, got ${JSON.stringify(parsed)}`);
  return parsed.config;
};
const complaintOf = (...args: string[]): string => {
  const parsed = parseFlags(args, {});
  return parsed.kind === 'invalid' ? parsed.message : parsed.kind;
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
      namespace: '',
      kubeApiQps: 50,
      kubeApiBurst: 100,
      leaderElect: false,
      leaseNamespace: undefined,
      leaseName: 'switchyard-worker',
      metricsBindAddress: '127.0.0.1:0',
      logLevel: 'info',
    });
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
      leaderElect: true,
      metricsBindAddress: undefined,
    });
    expect(configOf(['--leader-elect=false'], { SWITCHYARD_LEADER_ELECT: 'true' }).leaderElect).toBe(false);
  });

  test.each([
    [['--controllers', 'jobs'], '--controllers: "jobs" is no controller: choose from job, ttl-after-finished'],
    [['--concurrent-job-syncs', '0'], '--concurrent-job-syncs: "0" is no number: write a whole number of at least 1'],
    [['--kube-api-qps', '1.5'], '--kube-api-qps: "1.5" is no number: write a whole number of at least 0'],
    [['--job-batch-period', '1'], '--job-batch-period: "1" is no duration: write 500ms, 1s or 2m'],
    [['--log-level', 'loud'], '--log-level: "loud" is unknown: choose from debug, info, warn, error'],
    [['--leader-elect=maybe'], '--leader-elect: "maybe" is neither true nor false'],
    [
      ['--metrics-bind-address', 'here'],
      '--metrics-bind-address: "here" is no address: write host:port, such as 127.0.0.1:8080, or 0 to serve nothing',
    ],
    [
      ['--controller-name', 'me'],
      '--controller-name: "me" is no value of spec.managedBy: write a domain and a path, such as switchyard.dev/worker',
    ],
  ])('%j is answered in one line with the remedy', (args, complaint) => {
    expect(complaintOf(...args)).toBe(complaint);
  });

  test('an unknown flag is named', () => {
    expect(complaintOf('--qps', '5')).toMatch(/^Unknown option '--qps'.* See --help\.$/);
  });

  test('--help tells every flag', () => {
    const parsed = parseFlags(['--help'], {});
    expect(parsed.kind === 'help' && parsed.text).toMatch(/--kubeconfig FILE[\s\S]*--controller-name NAME[\s\S]*--log-level LEVEL/);
  });
});
