import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { createBackoff } from '../../shared/runtime/backoff.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import { bundlePatch } from './ca-bundle.ts';
import { createCertificateReader, type CertificateReader, type CertificateReaderDeps, type CertificateView } from './certificate-reader.ts';
import { certificateSecretData, newCertificateSecretData } from './certificate-secret.ts';
import { decideCertificates, trusts, type Step } from './decide-certificates.ts';
import type { KeyPair } from './key-pair.ts';

export type CertificateKeeperDeps = CertificateReaderDeps & {
  readonly client: WriteClient;
  /** DNS names by which the server is called. */
  readonly names: readonly string[];
  readonly makeKeyPair: (names: readonly string[], nowMs: number) => Promise<KeyPair>;
};

/** Makes, publishes and replaces the serving certificate, together with any other keeper of the same Secret. */
export type CertificateKeeper = Pick<CertificateReader, 'run' | 'problem' | 'warnings'>;

/** The least time between two requests, whatever fails. */
const PAUSE_MS = 1_000;
const BACKOFF = { baseMs: 1_000, maxMs: 30_000 };

/** Nothing starts before `run`. */
export function createCertificateKeeper(deps: CertificateKeeperDeps): CertificateKeeper {
  const { clock, random, log, names, secret: key } = deps;
  const named = `${key.namespace}/${key.name}`;
  const reader = createCertificateReader(deps);
  const wakeUp = createWakeUp(clock);
  reader.onChange(() => wakeUp.wake());

  /** One step after the other, each on what is known by then. */
  async function keep(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ ...BACKOFF, random });
    let timer = clock.schedule(() => undefined, 0);
    const again = (delayMs: number): void => {
      timer.cancel();
      timer = clock.schedule(() => wakeUp.wake(), delayMs);
    };
    try {
      await wakeUp.run(async () => {
        try {
          const view = reader.view();
          if (view === undefined) return again(PAUSE_MS);
          const { content: secret, shown, bundles, nextTrustedMs } = view;
          const step = decideCertificates({ nowMs: clock.now(), secret, shown, bundles, nextTrustedMs, names });
          if (step.kind === 'Wait') {
            backoff.reset();
            return again(step.forMs);
          }
          await take(step, view, signal);
          backoff.reset();
          await sleep(clock, PAUSE_MS, signal);
          again(0);
        } catch (error) {
          if (signal.aborted) return;
          const delayMs = backoff.nextDelayMs();
          if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error))
            log.error('the serving certificate cannot be looked after', { secret: named, error });
          // Otherwise another keeper was faster, and the watch is about to show its write.
          await sleep(clock, delayMs, signal);
          again(0);
        }
      }, signal);
    } finally {
      timer.cancel();
    }
  }

  async function take(step: Exclude<Step, { kind: 'Wait' }>, view: CertificateView, signal: AbortSignal): Promise<void> {
    const { client, configuration, makeKeyPair } = deps;
    const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
    if (step.kind === 'Publish') {
      const target = view.configurations[step.index];
      if (target === undefined) return;
      const { resource, object } = target;
      const body = bundlePatch(object, step.authorities);
      await client.patch(resource, { namespace: '', name: configuration }, { type: 'json', body }, options);
      log.info('a webhook configuration trusts the serving certificate', { kind: resource.kind, authorities: step.authorities.length });
      return;
    }
    const made = async (pair: KeyPair | 'Made'): Promise<KeyPair> => (pair === 'Made' ? makeKeyPair(names, clock.now()) : pair);
    const current = await made(step.current);
    const next = step.next && (await made(step.next));
    const isNew = (pair: KeyPair | undefined): pair is KeyPair => pair !== undefined && !trusts(step.authorities, pair.authority);
    const authorities = [...step.authorities, ...[current, next].filter(isNew).map(({ authority }) => authority)];
    const content = { current, next, authorities };
    if (view.secret === undefined) {
      const data = newCertificateSecretData(content);
      await client.create(SECRETS, { metadata: key, type: 'kubernetes.io/tls', data }, options);
    } else {
      const body = { metadata: { resourceVersion: view.secret.metadata.resourceVersion }, data: certificateSecretData(content) };
      await client.patch(SECRETS, key, { type: 'merge', body }, options);
    }
    log.info('wrote the serving certificate', { secret: named, why: step.why });
  }

  return {
    run: (signal) => allOrNone(signal, [(each) => reader.run(each), keep]),
    problem: () => reader.problem(),
    warnings: () => reader.warnings(),
  };
}
