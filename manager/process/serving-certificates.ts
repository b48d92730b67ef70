import type { Registry } from 'prom-client';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { createCertificateGauge } from '../../shared/runtime/certificate-gauge.ts';
import { certificateFromFiles, reportingSource, type CertificateSource } from '../../shared/runtime/serving-certificate.ts';
import type { CertificateChoice, CertificateSecretConfig } from '../config/certificate-flags.ts';
import { createCertificateReader, type CertificateReader } from '../certificates/certificate-reader.ts';

export type ServingCertificatesDeps = {
  readonly own: CertificateSecretConfig | undefined;
  /** Namespace of the Secret where none is configured. */
  readonly namespace: string;
  readonly client: KubeClient;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

export type ServingCertificates = {
  /** Absent: all certificates come from files. */
  readonly reader: CertificateReader | undefined;
  /** The certificate of one server, by its name, such as `webhook`. */
  of(server: string, choice: CertificateChoice): CertificateSource;
};

/** The certificates of the manager's servers, and a metric of their expiry. Call once for each registry. */
export function createServingCertificates({ own, namespace, ...deps }: ServingCertificatesDeps): ServingCertificates {
  const { registry, clock, log } = deps;
  const notAfter = createCertificateGauge(registry);
  const reader =
    own &&
    createCertificateReader({
      ...deps,
      secret: { namespace: own.secret.namespace ?? namespace, name: own.secret.name },
      configuration: own.configuration,
      log: log.with({ part: 'certificates' }),
    });
  return {
    reader,
    of(server, choice) {
      const source = choice === 'Own' ? reader : certificateFromFiles({ of: server, ...choice, clock, log });
      if (source === undefined) throw new Error(`no Secret holds a certificate for the ${server}`);
      return reportingSource(source, (seconds) => notAfter.set({ certificate: server }, seconds));
    },
  };
}
