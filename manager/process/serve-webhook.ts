import type { RawClient } from '../../shared/kube/client.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { CertificateSource } from '../../shared/runtime/serving-certificate.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { PassedWrite } from '../audit/write-audit.ts';
import type { IdentityAlarm } from './identity-alarm.ts';
import { mayDoEverything, ownUsername } from './identity.ts';
import type { WebhookMetrics } from '../webhook/webhook-metrics.ts';
import type { Identities } from '../policy/writer.ts';
import { createWebhookServer } from '../webhook/server.ts';

export type WebhookListener = {
  readonly address: string;
  readonly certificate: CertificateSource;
  /**
   * How long it is served after the manager was asked to stop: API servers come here until all have heard that the pod ends. Absent: not at
   * all.
   */
  readonly shutdownDelayMs?: number;
};

export type ServeWebhookDeps = {
  readonly client: RawClient;
  /** Absent: it is not served. */
  readonly webhook?: WebhookListener;
  /** Users that it knows beside the manager's own; absent: none. */
  readonly knownUsers?: Identities;
  readonly jobRules?: JobRules;
  /** Told about every write that passes; absent: nobody is. */
  readonly onPassed?: (write: PassedWrite) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * The webhook lets nobody but this manager write admission records, so it must know under which name the manager writes. `tell` hears why a
 * replica should get no requests. The webhook needs no caches: whatever else a replica waits for or has ended, it answers.
 */
export async function serveWebhook(
  deps: ServeWebhookDeps,
  metrics: WebhookMetrics,
  alarm: Pick<IdentityAlarm, 'sharedBy' | 'administrator'>,
  tell: (problem: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const { webhook, knownUsers, clock, log } = deps;
  if (webhook === undefined) return;
  const username = await ownUsername(deps, signal);
  if (username === undefined) return;
  const server = createWebhookServer({
    certificate: webhook.certificate,
    identities: { managers: [username, ...(knownUsers?.managers ?? [])], localWorkers: knownUsers?.localWorkers ?? [] },
    onSharedIdentity: (...by) => alarm.sharedBy(...by),
    ...omitUndefined({ rules: deps.jobRules, onPassed: deps.onPassed }),
    metrics,
    clock,
    log: log.with({ part: 'webhook' }),
  });
  try {
    const { url, drain, close } = await server.listen(webhook.address, signal);
    tell(undefined);
    log.info('the webhook is served', { url, username });
    if (await mayDoEverything(deps, signal)) alarm.administrator(username);
    await aborted(signal);
    tell('the webhook is shutting down');
    drain();
    await sleep(clock, webhook.shutdownDelayMs ?? 0);
    await close();
  } catch (error) {
    // There was no certificate before the end.
    if (!signal.aborted) throw error;
  }
}
