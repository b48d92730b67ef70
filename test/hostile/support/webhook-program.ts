/** A webhook server in a process of its own, so that its memory is not that of its adversary. Arguments: certificate and key. */
import { createWebhookServer } from '../../../manager/webhook/server.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { certificateFromFiles } from '../../../shared/runtime/serving-certificate.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { JOB_KIND } from '../../../manager/work-kind/job/job-kind.ts';

const [certFile = '', keyFile = ''] = process.argv.slice(2);
const server = createWebhookServer({
  kind: JOB_KIND,
  certificate: certificateFromFiles({ of: 'webhook', certFile, keyFile, clock: systemClock, log: silentLogger }),
  identities: { managers: ['manager'], localWorkers: [] },
  onSharedIdentity: () => undefined,
  clock: systemClock,
  log: silentLogger,
});
const { url } = await server.listen('127.0.0.1:0');
process.send?.({ url });
process.on('message', (message) => {
  if (message === 'stall') return stall(400);
  globalThis.gc?.();
  process.send?.({ residentBytes: process.memoryUsage.rss() });
});
/** As a collection of garbage or a large list does. */
function stall(forMs: number): void {
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs; );
}
process.on('disconnect', () => process.exit(0));
