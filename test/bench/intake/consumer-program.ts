/**
 * Takes submissions from a queue, makes no Job of any, and parks them: what a manager costs for them beside its Jobs. `REDIS_URL`,
 * `CONCURRENCY`.
 */
import { createHash } from 'node:crypto';
import { connectBullmqQueue } from '../../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../../manager/submission/redis-settings.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';

const { REDIS_URL = '', CONCURRENCY = '50' } = process.env;
const queue = connectBullmqQueue({
  redis: singleRedis(REDIS_URL),
  name: 'parking',
  prefix: 'bench',
  concurrency: Number(CONCURRENCY),
  clock: systemClock,
  log: silentLogger,
});
console.log('serving');
await queue.consume(async ({ key }) => {
  const uid = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return { job: { namespace: 'load', name: key }, uid, outcome: undefined };
}, new AbortController().signal);
