import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** PEM files of the certificate that a server shows, and of its private key. */
export type CertificateFiles = { readonly certFile: string; readonly keyFile: string };
/** The same, as text. */
export type ServingCertificate = { readonly cert: string; readonly key: string };

/** Where the certificate of a server comes from, and each next one. */
export interface CertificateSource {
  /** The one to begin with. Rejects where there is none, or when `signal` aborts first. */
  first(signal?: AbortSignal): Promise<ServingCertificate>;
  /** Hands over each that comes after `shown`; returns how to stop. `show` throws for one that it cannot show: the old one stays. */
  follow(shown: ServingCertificate, show: (certificate: ServingCertificate) => void): () => void;
}

export type FileCertificate = CertificateFiles & {
  /** What it is the certificate of, for the log: `webhook`. */
  readonly of: string;
  readonly clock: Clock;
  readonly log: Logger;
};

const CHECK_INTERVAL_MS = 10_000;

/**
 * A certificate in files, read anew as a renewed Secret is mounted: every ten seconds rather than by watching them, because a mounted
 * Secret is swapped by symbolic links, which file watchers miss. Half a pair, or one that does not match, is refused, and the old one stays
 * until the next look.
 */
export function certificateFromFiles({ of, certFile, keyFile, clock, log }: FileCertificate): CertificateSource {
  const read = async (): Promise<ServingCertificate> => {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    // A server that is given no key, because its file was being written, takes that without a word and then refuses everybody.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new Error(`the key in ${keyFile} is not that of the certificate in ${certFile}`);
    return { cert, key };
  };
  return {
    first: read,
    follow(shown, show) {
      let current = shown;
      let stopped = false;
      const check = async (): Promise<void> => {
        try {
          const next = await read();
          if (!stopped && (next.cert !== current.cert || next.key !== current.key)) {
            show(next);
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
    },
  };
}

/** Tells of each certificate that is shown when it ends (`notAfter`), as epoch seconds. */
export const reportingSource = (source: CertificateSource, tell: (notAfterSeconds: number) => void): CertificateSource => {
  const told = (certificate: ServingCertificate): ServingCertificate => {
    tell(Math.floor(Date.parse(new X509Certificate(certificate.cert).validTo) / 1000));
    return certificate;
  };
  return {
    first: async (signal) => told(await source.first(signal)),
    follow: (shown, show) =>
      source.follow(shown, (next) => {
        show(next);
        told(next);
      }),
  };
};
