import { Gauge, type Registry } from 'prom-client';

/** When the certificates that a program shows end, by server. Call once for a registry. */
export const createCertificateGauge = (registry: Registry): Gauge<'certificate'> =>
  new Gauge({
    name: 'switchyard_certificate_not_after_seconds',
    help: 'When the certificate that a server shows ends, in seconds since 1970.',
    labelNames: ['certificate'],
    registers: [registry],
  });
