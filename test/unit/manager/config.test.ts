import { describe, expect, test } from 'vitest';
import { ConfigError, managerUsage, readManagerConfig, type ManagerConfig } from '../../../manager/config.ts';

const read = (argv: readonly string[], environment: Record<string, string> = {}): ManagerConfig => {
  const result = readManagerConfig(argv, environment);
  if (result.kind === 'Help') throw new Error('help was asked for');
  return result.config;
};

describe('the manager’s configuration', () => {
  test('has defaults for everything', () => {
    expect(read([])).toMatchObject({
      submissionQueue: 'switchyard-submissions',
      metricsAddress: '127.0.0.1:0',
      home: { qps: 100, burst: 200 },
      leaderElection: undefined,
      webhook: undefined,
      redisUrl: undefined,
    });
  });

  test('comes from flags before the environment', () => {
    const environment = { SWITCHYARD_REDIS_URL: 'redis://a:1', SWITCHYARD_KUBE_API_QPS: '7', SWITCHYARD_LEADER_ELECT: 'true' };
    expect(read(['--kube-api-qps', '0', '--leader-elect-name=x'], environment)).toMatchObject({
      redisUrl: 'redis://a:1',
      home: { qps: 0 },
      leaderElection: { namespace: 'switchyard-system', name: 'x' },
    });
  });

  test.each([
    [['--bogus'], /'--bogus'.*--help/],
    [['--kube-api-qps', 'fast'], /--kube-api-qps "fast" is not a number/],
    [['--concurrent-dispatches', '1.5'], /--concurrent-dispatches "1\.5"/],
    [['--redis-url', 'localhost:6379'], /redis:\/\/localhost:6379/],
    [['--metrics-bind-address', '8080'], /--metrics-bind-address.*host:port/],
    [['--webhook-bind-address', ':9443'], /--webhook-tls-cert-file/],
    [['--manager-id', 'a b'], /no label value/],
    [['--submission-queue', 'a:b'], /colon/],
    [['--log-level', 'loud'], /none of debug/],
  ])('that cannot be used is one line that says what to write: %s', (argv, message) => {
    expect(() => read(argv)).toThrow(ConfigError);
    expect(() => read(argv)).toThrow(message);
    expect(() => read(argv)).not.toThrow(/\n/);
  });

  test('is explained by --help, flag by flag', () => {
    expect(readManagerConfig(['--help'], {})).toEqual({ kind: 'Help' });
    expect(managerUsage()).toMatch(/--redis-url URL/);
  });
});
