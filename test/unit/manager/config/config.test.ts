import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM, type ManagerConfig } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const read = (args: readonly string[], environment: Record<string, string> = {}): ManagerConfig => {
  const parsed = parseFlags(MANAGER_PROGRAM, args, environment);
  if (parsed.kind !== 'Run') throw new Error(`expected a configuration, got ${JSON.stringify(parsed)}`);
  return parsed.config;
};

describe('the manager’s configuration', () => {
  test('has defaults for everything', () => {
    expect(read([])).toMatchObject({
      submissionQueue: 'switchyard-submissions',
      submissionNamespaces: ['default'],
      allowManagerIdentity: false,
      metricsAddress: '127.0.0.1:0',
      metricsAuthentication: false,
      home: { qps: 100, burst: 200 },
      leaderElection: undefined,
      recordKeySecret: { namespace: undefined, name: 'switchyard-manager-record-key' },
      webhook: undefined,
      redis: undefined,
      workerAddressDeny: ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'],
    });
  });

  test('comes from flags before the environment', () => {
    const environment = { SWITCHYARD_REDIS_URL: 'redis://a:1', SWITCHYARD_KUBE_API_QPS: '7', SWITCHYARD_LEADER_ELECT: 'true' };
    expect(read(['--kube-api-qps', '0', '--leader-elect-resource-name=x'], environment)).toMatchObject({
      redis: { servers: { kind: 'Single', url: 'redis://a:1' } },
      home: { qps: 0 },
      leaderElection: { namespace: undefined, name: 'x', leaseDurationMs: 3_000 },
    });
  });

  test('denies worker clusters the addresses that it is given, or none', () => {
    expect(read(['--worker-address-deny', '10.0.0.0/8, ::1/128']).workerAddressDeny).toEqual(['10.0.0.0/8', '::1/128']);
    expect(read(['--worker-address-deny=']).workerAddressDeny).toEqual([]);
  });

  test('moves Jobs off lost clusters after a while, or never', () => {
    expect(read([]).workerLostTimeoutMs).toBe(900_000);
    expect(read(['--worker-lost-timeout', '2h']).workerLostTimeoutMs).toBe(7_200_000);
    for (const never of ['0', '0s']) expect(read(['--worker-lost-timeout', never]).workerLostTimeoutMs).toBe(0);
  });

  test('has Jobs that did not start queue by the age of their eviction, or by their own', () => {
    expect(read([]).requeuingTimestamp).toBe('Eviction');
    expect(read(['--requeuing-timestamp=Creation']).requeuingTimestamp).toBe('Creation');
    expect(() => read(['--requeuing-timestamp=creation'])).toThrow(/--requeuing-timestamp/);
  });

  test('takes no Jobs of namespaces of Kubernetes itself, or of those that are named', () => {
    const denied = (...args: string[]) => read(args).jobRules.deniedNamespaces;
    expect(denied()).toEqual(['kube-*']);
    expect(denied('--denied-namespaces', 'kube-*, vault')).toEqual(['kube-*', 'vault']);
    expect(denied('--denied-namespaces', '')).toEqual([]);
    expect(() => denied('--denied-namespaces', 'kube-*,*')).toThrow(
      'is neither a namespace nor the beginning of names and *; write such as kube-*,vault',
    );
  });

  test('shares fairly only where it is told to', () => {
    expect(read([])).toMatchObject({ fairSharing: undefined, admissionFairSharing: undefined });
    expect(read(['--fair-sharing']).fairSharing).toEqual({ preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] });
    expect(read(['--fair-sharing', '--fair-sharing-preemption-strategies=LessThanInitialShare']).fairSharing).toEqual({
      preemptionStrategies: ['LessThanInitialShare'],
    });
    const weights = ['--admission-fair-sharing-resource-weights', 'cpu=1, memory=1e-10'];
    expect(read(['--admission-fair-sharing-half-life', '168h', ...weights]).admissionFairSharing).toEqual({
      halfLifeMs: 604_800_000,
      samplingIntervalMs: 300_000,
      resourceWeights: new Map([
        ['cpu', 1],
        ['memory', 1e-10],
      ]),
    });
  });

  test('names the Secret of the record key with or without its namespace', () => {
    expect(read(['--record-key-secret', 'system/key']).recordKeySecret).toEqual({ namespace: 'system', name: 'key' });
    expect(read([], { SWITCHYARD_RECORD_KEY_SECRET: 'a.b-c' }).recordKeySecret).toEqual({ namespace: undefined, name: 'a.b-c' });
  });

  test.each([
    [
      ['--worker-lost-timeout', '30s'],
      '--worker-lost-timeout: "30s" is shorter than any fence takes; write more than 30s, such as 15m, or 0 to move no Job off a lost cluster',
    ],
    [
      ['--fair-sharing-preemption-strategies', 'LessThanInitialShare,LessThanOrEqualToFinalShare'],
      '--fair-sharing-preemption-strategies: "LessThanInitialShare,LessThanOrEqualToFinalShare" names no strategies; write LessThanOrEqualToFinalShare or LessThanInitialShare, or both in this order with a comma',
    ],
    [
      ['--admission-fair-sharing-half-life', '0s'],
      '--admission-fair-sharing-half-life: "0s" would forget all usage at once; write one such as 168h, or leave the flag out',
    ],
    [
      ['--admission-fair-sharing-sampling-interval', '10ms'],
      '--admission-fair-sharing-sampling-interval: "10ms" is less than a second; write more, such as 5m',
    ],
    [
      ['--admission-fair-sharing-resource-weights', 'cpu=-1'],
      '--admission-fair-sharing-resource-weights: "cpu=-1" is no weight of a resource; write one such as cpu=1 or memory=1e-10',
    ],
    [['--record-key-secret', 'a/b/c'], '--record-key-secret: "a/b/c" names no Secret; write one such as switchyard/record-key'],
    [
      ['--worker-address-deny', '10.0.0.0/8,10.0.0.1'],
      '--worker-address-deny: "10.0.0.1" is no range of addresses; write ranges such as 169.254.0.0/16,fe80::/10',
    ],
    [
      ['--worker-address-deny', '10.0.0.0/33'],
      '--worker-address-deny: "10.0.0.0/33" is no range of addresses; write ranges such as 169.254.0.0/16,fe80::/10',
    ],
    [['--redis-url', 'me:secret@localhost:6379'], '--redis-url: is no redis:// or rediss:// URL; write one such as redis://localhost:6379'],
    [
      ['--webhook-bind-address', ':9443'],
      '--webhook-bind-address needs --webhook-tls-cert-file and --webhook-tls-key-file, or --webhook-cert-secret: API servers speak TLS to webhooks',
    ],
    [['--manager-id', 'a b'], '--manager-id: "a b" is no label value; write at most 63 letters, digits, "-", "_" and "."'],
    [
      ['--submission-namespaces', 'team,kube-system'],
      '--submission-namespaces: "kube-system" is no namespace for submissions; write names of namespaces that are not kube-*, or * for all of these',
    ],
    [['--submission-queue', 'a:b'], '--submission-queue: "a:b" contains a colon, which BullMQ uses in its keys; leave it out'],
  ])('that cannot be used is one line that says what to write: %s', (args, problem) => {
    expect(parseFlags(MANAGER_PROGRAM, args, {})).toEqual({ kind: 'Invalid', problem });
  });
});
