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
import type { WorkKind } from '../work-kind/work-kind.ts';

export type WebhookListener = {
  readonly address: string;
  readonly certificate: CertificateSource;
  /**
   * How long the webhook is served after the manager was told to stop, until all API servers know that the pod ends. Absent: not at all.
   */
  readonly shutdownDelayMs?: number;
};

export type ServeWebhookDeps = {
  readonly kind: WorkKind;
  readonly client: RawClient;
  /** Absent: the webhook is not served. */
  readonly webhook?: WebhookListener;
  /** Users besides the manager's own; absent: none. */
  readonly knownUsers?: Identities;
  readonly jobRules?: JobRules;
  /** Called for every write that passes; absent: not reported. */
  readonly onPassed?: (write: PassedWrite) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * Serves the webhook, which lets only this manager write admission records, and so must know the manager's user name. `tell` takes why a
 * replica should get no requests. The webhook needs no caches: it answers whatever else a replica waits for, or has ended.
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
    kind: deps.kind,
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
    // The signal aborted before there was a certificate.
    if (!signal.aborted) throw error;
  }
}
