import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** PEM files of the certificate that a server shows, and of its private key. */
export type CertificateFiles = { readonly certFile: string; readonly keyFile: string };
export type ServingCertificate = { readonly cert: string; readonly key: string };

const CHECK_INTERVAL_MS = 10_000;

export async function readServingCertificate({ certFile, keyFile }: CertificateFiles): Promise<ServingCertificate> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}

export type WatchedCertificate = CertificateFiles & {
  readonly server: Pick<Server, 'setSecureContext'>;
  /** What the server shows now. */
  readonly shown: ServingCertificate;
  /** What it is the certificate of, for the log: `webhook`. */
  readonly of: string;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * Shows the certificate anew when the files change, as a renewed Secret is mounted; returns how to stop. Reads the files every ten seconds rather
 * than watching them: a mounted Secret is swapped by symbolic links, which file watchers miss. Half a pair, or one that does not match, is refused
 * by the TLS library, and the old one stays until the next look.
 */
export function watchServingCertificate({ server, shown, of, certFile, keyFile, clock, log }: WatchedCertificate): () => void {
  let current = shown;
  let stopped = false;
  const check = async (): Promise<void> => {
    try {
      const next = await readServingCertificate({ certFile, keyFile });
      if (!stopped && (next.cert !== current.cert || next.key !== current.key)) {
        server.setSecureContext(next);
        current = next;
        log.info(`the ${of} certificate was reloaded`, { certFile });
      }
    } catch (error) {
      log.error(`the ${of} certificate could not be reloaded`, { certFile, keyFile, error });
    }
    if (!stopped) timer = clock.schedule(() => void check(), CHECK_INTERVAL_MS);
  };
  let timer = clock.schedule(() => void check(), CHECK_INTERVAL_MS);
  return () => {
    stopped = true;
    timer.cancel();
  };
}
