import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const redisOf = (...args: string[]): unknown => {
  const parsed = parseFlags(MANAGER_PROGRAM, args, {});
  if (parsed.kind !== 'Run') throw new Error(JSON.stringify(parsed));
  return parsed.config.redis;
};
const problemOf = (...args: string[]): string => {
  try {
    return JSON.stringify(parseFlags(MANAGER_PROGRAM, args, {}));
  } catch (error) {
    return String(error);
  }
};

test('without any of the flags there is no Redis', () => {
  expect(redisOf()).toBeUndefined();
  expect(redisOf('--redis-username=x')).toBeUndefined();
});

test('one server, sentinels, or nodes of a cluster', () => {
  expect(redisOf('--redis-url=rediss://r:1', '--redis-tls-ca-file=/ca')).toEqual({
    servers: { kind: 'Single', url: 'rediss://r:1' },
    tls: { caFile: '/ca' },
  });
  expect(redisOf('--redis-url-file=/u', '--redis-tls-ca-file=/ca')).toEqual({
    servers: { kind: 'Single', urlFile: '/u' },
    tls: { caFile: '/ca' },
  });
  expect(redisOf('--redis-sentinels=a:1, [::1]:2', '--redis-sentinel-name=main', '--redis-password-file=/p')).toEqual({
    servers: {
      kind: 'Sentinel',
      sentinels: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
      ],
      name: 'main',
    },
    passwordFile: '/p',
  });
  expect(redisOf('--redis-cluster-nodes=a:1', '--redis-tls', '--redis-username=u')).toEqual({
    servers: { kind: 'Cluster', nodes: [{ host: 'a', port: 1 }] },
    username: 'u',
    tls: {},
  });
});

test('on a cluster the shared queue has a prefix with a hash tag', () => {
  const prefixOf = (...args: string[]): string => {
    const parsed = parseFlags(MANAGER_PROGRAM, args, {});
    return parsed.kind === 'Run' ? parsed.config.redisPrefix : '';
  };
  expect(prefixOf('--redis-url=redis://a')).toBe('bull');
  expect(prefixOf('--redis-cluster-nodes=a:1')).toBe('{bull}');
  expect(prefixOf('--redis-cluster-nodes=a:1', '--redis-prefix={ours}:x')).toBe('{ours}:x');
  expect(prefixOf('--redis-cluster-nodes=a:1', '--redis-prefix=ours', '--submission-queue=')).toBe('ours');
});

describe('is refused, with the remedy', () => {
  test.each([
    [['--redis-url=redis://a', '--redis-cluster-nodes=a:1'], 'give one of them'],
    [['--redis-url=redis://:secret@a', '--redis-url-file=/u'], '--redis-url, --redis-url-file,'],
    [['--redis-url-file=/u', '--redis-sentinels=a:1', '--redis-sentinel-name=x'], 'give one of them'],
    [['--redis-url-file=/u', '--redis-cluster-nodes=a:1'], 'give one of them'],
    [['--redis-sentinels=a:1'], '--redis-sentinel-name'],
    [['--redis-sentinels=a', '--redis-sentinel-name=x'], 'HOST:PORT'],
    [['--redis-cluster-nodes=a:0'], 'HOST:PORT'],
    [['--redis-cluster-nodes=a:1', '--redis-prefix=ours'], 'write {ours}'],
    [['--redis-cluster-nodes=a:1,'], 'HOST:PORT'],
    [['--redis-url=redis://a', '--redis-tls-ca-file=/ca'], 'write rediss://'],
    [['--redis-url=rediss://a', '--redis-tls-cert-file=/c'], 'go together'],
    [['--redis-url=http://:secret@a'], 'redis:// or rediss://'],
  ])('%s', (args, remedy) => {
    const problem = problemOf(...args);
    expect(problem).toContain(remedy);
    expect(problem).not.toContain('secret');
  });
});
