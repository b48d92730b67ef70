import type { KubeClient } from '../shared/kube/client.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import { given } from '../shared/runtime/given.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { CertificateSource } from '../shared/runtime/serving-certificate.ts';
import { aborted } from '../shared/runtime/tasks.ts';
import type { JobRules } from './api/job-rules.ts';
import type { IdentityAlarm } from './identity-alarm.ts';
import { mayDoEverything, ownUsername } from './identity.ts';
import type { WebhookMetrics } from './metrics.ts';
import type { Identities } from './policy/writer.ts';
import { createWebhookServer } from './webhook/server.ts';

export type ServeWebhookDeps = {
  readonly client: KubeClient;
  /** Absent: it is not served. */
  readonly webhook?: { readonly address: string; readonly certificate: CertificateSource };
  /** Users that it knows beside the manager's own; absent: none. */
  readonly knownUsers?: Identities;
  readonly jobRules?: JobRules;
  readonly clock: Clock;
  readonly log: Logger;
};

/** The webhook lets nobody but this manager write admission records, so it must know under which name the manager writes. */
export async function serveWebhook(
  deps: ServeWebhookDeps,
  metrics: WebhookMetrics,
  alarm: IdentityAlarm,
  served: () => void,
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
    ...given({ rules: deps.jobRules }),
    metrics,
    clock,
    log: log.with({ part: 'webhook' }),
  });
  try {
    const { url, close } = await server.listen(webhook.address, signal);
    served();
    log.info('the webhook is served', { url, username });
    if (await mayDoEverything(deps, signal)) alarm.administrator(username);
    await aborted(signal);
    await close();
  } catch (error) {
    // There was no certificate before the end.
    if (!signal.aborted) throw error;
  }
}
