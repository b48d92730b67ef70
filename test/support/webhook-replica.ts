/**
 * A replica of the webhook that ends as the manager does. Arguments: certificate, key, and for how many milliseconds it is served after a
 * SIGTERM.
 */
import { Registry } from 'prom-client';
import { createManagerMetrics } from '../../manager/metrics/metrics.ts';
import { serveWebhook } from '../../manager/process/serve-webhook.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { runProgram } from '../../shared/runtime/lifecycle.ts';
import { silentLogger, type Logger } from '../../shared/runtime/logger.ts';
import { certificateFromFiles } from '../../shared/runtime/serving-certificate.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const [certFile = '', keyFile = '', delayMs = ''] = process.argv.slice(2);
const clock = systemClock;
const client = {
  raw: async ({ path }: { readonly path: string }) =>
    JSON.stringify({ status: path.includes('selfsubjectreviews') ? { userInfo: { username: 'manager' } } : { allowed: false } }),
};
const log: Logger = {
  ...silentLogger,
  with: () => log,
  info: (_message, context) => context !== undefined && 'url' in context && process.send?.({ url: context['url'] }),
};
const certificate = certificateFromFiles({ of: 'webhook', certFile, keyFile, clock, log: silentLogger });
const webhook = { address: '127.0.0.1:0', certificate, shutdownDelayMs: Number(delayMs) };
const metrics = createManagerMetrics(new Registry()).webhook;
const alarm = { sharedBy: () => undefined, administrator: () => undefined };

process.exitCode = await runProgram({ clock, log, drainMs: 25_000 + Number(delayMs) }, (signal) =>
  serveWebhook({ kind: JOB_KIND, client, webhook, clock, log }, metrics, alarm, () => undefined, signal),
);
process.disconnect();
