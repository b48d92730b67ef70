import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM, type ManagerConfig } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const read = (args: readonly string[], environment: Record<string, string> = {}): ManagerConfig => {
  const parsed = parseFlags(MANAGER_PROGRAM, args, environment);
  if (parsed.kind !== 'Run') throw new Error(`expected a configuration, got ${JSON.stringify(parsed)}`);
  return parsed.config;
};

const RULES = read([]).jobRules;

describe('the manager’s configuration', () => {
  test('has defaults for everything', () => {
    expect(read([])).toEqual({
      kubeconfig: undefined,
      redis: undefined,
      redisPrefix: 'bull',
      submissionQueue: 'switchyard-submissions',
      submissionNamespaces: ['default'],
      allowManagerIdentity: false,
      concurrentSubmissions: 50,
      storyEventQps: 5,
      metricsLocalQueuesMax: 1_000,
      tracing: { otlpEndpoint: undefined, traceRatio: 1, pods: false },
      managerId: undefined,
      recordKeySecret: { namespace: undefined, name: 'switchyard-manager-record-key' },
      leaderElection: undefined,
      metricsAddress: '127.0.0.1:0',
      metricsAuthentication: false,
      webhook: undefined,
      api: undefined,
      metricsTls: undefined,
      certificateSecret: undefined,
      dashboard: undefined,
      knownUsers: { managers: [], localWorkers: [] },
      home: { qps: 100, burst: 200 },
      worker: { qps: 50, burst: 100 },
      submissions: { qps: 300, burst: 300 },
      workerAddressDeny: ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'],
      workerMemoryBytes: 32 * 1024 * 1024,
      concurrentDispatches: 16,
      workerLostTimeoutMs: 900_000,
      podFenceImage: undefined,
      carryNamespaces: [],
      requeuingTimestamp: 'Eviction',
      clusterSecretsNamespace: undefined,
      tokenLifeMs: 86_400_000,
      renewIntervalMs: 10_000,
      defaultPlacement: 'LeastRoom',
      fairSharing: undefined,
      admissionFairSharing: undefined,
      decisionLog: undefined,
      auditLog: undefined,
      history: undefined,
      canary: undefined,
      jobRules: { bytesMax: 262_144, resourceClaims: 'Refuse', kueueQueueLabel: false, deniedNamespaces: ['kube-*'] },
      logLevel: 'info',
    });
  });

  test.each<[string, Partial<ManagerConfig>]>([
    ['--kubeconfig=/k', { kubeconfig: '/k' }],
    ['--redis-prefix=p', { redisPrefix: 'p' }],
    ['--submission-queue=q', { submissionQueue: 'q' }],
    ['--submission-namespaces=b,a', { submissionNamespaces: ['b', 'a'] }],
    ['--allow-manager-identity', { allowManagerIdentity: true }],
    ['--concurrent-submissions=1', { concurrentSubmissions: 1 }],
    ['--story-event-qps=0', { storyEventQps: 0 }],
    ['--metrics-local-queues-max=0', { metricsLocalQueuesMax: 0 }],
    ['--otlp-endpoint=http://c:4318', { tracing: { otlpEndpoint: 'http://c:4318', traceRatio: 1, pods: false } }],
    ['--trace-ratio=0.5', { tracing: { otlpEndpoint: undefined, traceRatio: 0.5, pods: false } }],
    ['--trace-pods', { tracing: { otlpEndpoint: undefined, traceRatio: 1, pods: true } }],
    ['--manager-id=m', { managerId: 'm' }],
    ['--metrics-bind-address=:8080', { metricsAddress: ':8080' }],
    ['--metrics-authentication', { metricsAuthentication: true }],
    ['--other-managers=a,b', { knownUsers: { managers: ['a', 'b'], localWorkers: [] } }],
    ['--local-workers=a', { knownUsers: { managers: [], localWorkers: ['a'] } }],
    ['--kube-api-qps=1', { home: { qps: 1, burst: 200 } }],
    ['--kube-api-burst=1', { home: { qps: 100, burst: 1 } }],
    ['--worker-api-qps=1', { worker: { qps: 1, burst: 100 } }],
    ['--worker-api-burst=1', { worker: { qps: 50, burst: 1 } }],
    ['--submission-api-qps=1', { submissions: { qps: 1, burst: 300 } }],
    ['--submission-api-burst=1', { submissions: { qps: 300, burst: 1 } }],
    ['--worker-memory-limit=1', { workerMemoryBytes: 1024 * 1024 }],
    ['--worker-memory-limit=65536', { workerMemoryBytes: 65_536 * 1024 * 1024 }],
    ['--concurrent-dispatches=1', { concurrentDispatches: 1 }],
    ['--worker-lost-timeout=30001ms', { workerLostTimeoutMs: 30_001 }],
    ['--pod-fence-image=i', { podFenceImage: 'i' }],
    ['--carry-namespaces=a,b', { carryNamespaces: ['a', 'b'] }],
    ['--requeuing-timestamp=Creation', { requeuingTimestamp: 'Creation' }],
    ['--cluster-secrets-namespace=s', { clusterSecretsNamespace: 's' }],
    ['--worker-token-life=48h', { tokenLifeMs: 172_800_000 }],
    ['--worker-token-life=0', { tokenLifeMs: 0 }],
    ['--fence-renew-interval=500ms', { renewIntervalMs: 500 }],
    ['--fence-renew-interval=60s', { renewIntervalMs: 60_000 }],
    ['--default-placement=MostRoom', { defaultPlacement: 'MostRoom' }],
    ['--decision-log=-', { decisionLog: { destination: '-', fileBytesMax: 100 * 1024 * 1024, filesMax: 5 } }],
    [
      '--decision-log=/d --decision-log-max-size=1 --decision-log-max-files=1',
      { decisionLog: { destination: '/d', fileBytesMax: 1024 * 1024, filesMax: 1 } },
    ],
    ['--audit-log=-', { auditLog: '-' }],
    ['--max-job-bytes=16384', { jobRules: { ...RULES, bytesMax: 16_384 } }],
    ['--resource-claims=Ignore', { jobRules: { ...RULES, resourceClaims: 'Ignore' } }],
    ['--kueue-queue-label', { jobRules: { ...RULES, kueueQueueLabel: true } }],
    ['--log-level=debug', { logLevel: 'debug' }],
  ])('says with %s nothing but what that says', (args, said) => {
    expect(read(args.split(' '))).toEqual({ ...read([]), ...said });
  });

  test.each([
    '--concurrent-submissions=0',
    '--concurrent-dispatches=0',
    '--story-event-qps=-1',
    '--metrics-local-queues-max=-1',
    '--worker-memory-limit=0',
    '--worker-memory-limit=65537',
    '--max-job-bytes=16383',
    '--decision-log-max-size=0',
    '--decision-log-max-size=65537',
    '--decision-log-max-files=0',
    '--decision-log-max-files=1001',
    '--fence-renew-interval=499ms',
    '--fence-renew-interval=61s',
    '--worker-lost-timeout=29999ms',
  ])('refuses %s, which is out of its range', (arg) => {
    expect(parseFlags(MANAGER_PROGRAM, [arg], {}).kind).toBe('Invalid');
  });

  test('gives the queue of submissions on a Redis Cluster a prefix with a hash tag, and refuses one without', () => {
    const prefix = (...args: string[]) => read(['--redis-cluster-nodes=a:1', ...args]).redisPrefix;
    expect(prefix()).toBe('{bull}');
    expect(prefix('--redis-prefix={jobs}')).toBe('{jobs}');
    expect(prefix('--submission-queue=', '--redis-prefix=jobs')).toBe('jobs');
    expect(() => prefix('--redis-prefix=jobs')).toThrow('--redis-prefix \\"jobs\\" has no hash tag');
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
