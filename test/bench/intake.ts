/**
 * Submissions: how many Redis takes, what those cost that are parked, how soon waiters hear, and how soon Jobs are made of them. Redis, the
 * consumer and the API server are processes of their own.
 */
import { wholeNumber, type FlagTable } from '../../shared/runtime/flags.ts';
import { startRedis } from '../support/redis.ts';
import { measureCreation, type CreationFigures } from './intake/creation.ts';
import { measureAcceptance, measureParking, type AcceptanceFigures, type ParkingFigures } from './intake/parking.ts';
import { defineSuite } from './suite.ts';

const FLAGS = {
  accepted: { value: 'N', fallback: '50000', about: 'submissions put on a queue that nobody serves', parse: wholeNumber(100) },
  parked: { value: 'N', fallback: '100000', about: 'submissions parked at once', parse: wholeNumber(100) },
  settled: { value: 'N', fallback: '10000', about: 'of those, outcomes that come at once', parse: wholeNumber(10) },
  backlog: { value: 'N', fallback: '3000', about: 'submissions that wait when the manager begins to look', parse: wholeNumber(10) },
  seconds: { value: 'N', fallback: '20', about: 'for how long 100 submissions a second are made', parse: wholeNumber(1) },
} satisfies FlagTable;

/** What two cores that all of these processes share must bear at least. */
const BULK_PER_SECOND_MIN = 10_000;
const SINGLE_PER_SECOND_MIN = 2_000;
const CREATED_P99_MS_MAX = 200;
const CREATED_PER_SECOND_MIN = 300;
const REDIS_BYTES_MAX = 400 * 1024 * 1024;
const CONSUMER_BYTES_MAX = 100 * 1024 * 1024;
const SETTLED_SECONDS_MAX = 15;

export const intakeSuite = defineSuite(FLAGS, ({ accepted, parked, settled, backlog, seconds }) => async () => {
  await using resources = new AsyncDisposableStack();
  // As an administrator has it who may lose the last second: Redis's own default.
  const redis = await startRedis({ args: ['--appendfsync', 'everysec'] });
  resources.defer(() => redis.stop());
  const acceptance = await measureAcceptance(redis.url, accepted);
  await redis.wipe();
  const parking = await measureParking(redis.url, { parked, settled: Math.min(settled, parked) });
  await redis.wipe();
  const creation = await measureCreation(redis.url, { backlog, seconds });
  print({ accepted, parked, settled, backlog, seconds }, acceptance, parking, creation);
  return (
    acceptance.bulkPerSecond >= BULK_PER_SECOND_MIN &&
    acceptance.singlePerSecond >= SINGLE_PER_SECOND_MIN &&
    parking.redisBytes <= REDIS_BYTES_MAX &&
    parking.consumerBytes <= CONSUMER_BYTES_MAX &&
    parking.settledSeconds <= SETTLED_SECONDS_MAX &&
    creation.createdP99Ms <= CREATED_P99_MS_MAX &&
    creation.perSecond >= CREATED_PER_SECOND_MIN
  );
});

type Sizes = Readonly<Record<keyof typeof FLAGS, number>>;

function print(sizes: Sizes, acceptance: AcceptanceFigures, parking: ParkingFigures, creation: CreationFigures): void {
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
  console.log(`  accepted in bulk, 1,000 at once  ${Math.round(acceptance.bulkPerSecond)} a second (at least ${BULK_PER_SECOND_MIN})`);
  console.log(`  accepted one by one, 50 at once  ${Math.round(acceptance.singlePerSecond)} a second (at least ${SINGLE_PER_SECOND_MIN})`);
  console.log(
    `  ${sizes.parked} parked                ${mib(parking.redisBytes)} of Redis (at most ${mib(REDIS_BYTES_MAX)}), ${mib(parking.consumerBytes)} of the consumer beyond what it starts with (at most ${mib(CONSUMER_BYTES_MAX)}); ${Math.round(parking.parkedPerSecond)} a second`,
  );
  console.log(
    `  ${sizes.settled} outcomes at once       settled in ${parking.settledSeconds.toFixed(1)} s (at most ${SETTLED_SECONDS_MAX})`,
  );
  console.log(
    `  100 a second for ${sizes.seconds} s          accepted to created p50 ${Math.round(creation.createdP50Ms)} ms, p99 ${Math.round(creation.createdP99Ms)} ms (at most ${CREATED_P99_MS_MAX})`,
  );
  console.log(
    `  a backlog of ${sizes.backlog}            ${Math.round(creation.perSecond)} Jobs a second (at least ${CREATED_PER_SECOND_MIN})`,
  );
  console.log(
    `  the manager                      ${creation.callsPerJob.toFixed(2)} API calls and ${creation.cpuMsPerJob.toFixed(1)} ms of processor time a Job of the backlog`,
  );
}
