import { expect, test } from 'vitest';
import { singleRedis } from '../../../../manager/submission/redis-settings.ts';

test('a URL alone says user, password and TLS itself', () => {
  expect(singleRedis('rediss://user:secret@redis:6380')).toEqual({ servers: { kind: 'Single', url: 'rediss://user:secret@redis:6380' } });
});
