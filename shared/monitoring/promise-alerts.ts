import type { Alert } from './alert.ts';

/** What Switchyard promises, as it is checked while it runs; and what will stop working on a date. */
export const PROMISE_ALERTS: readonly Alert[] = [
  {
    name: 'SwitchyardCertificateExpiring',
    program: 'manager',
    severity: 'critical',
    for: '10m',
    thresholds: { days: 7 },
    expr: 'min by (certificate) (switchyard_certificate_not_after_seconds{job=~"$job"}) - time() < $days * 86400',
    summary: 'the certificate {{ $labels.certificate }} ends soon',
    description:
      'The certificate {{ $labels.certificate }} ends in {{ $value | humanizeDuration }}; it should have been renewed more than $days days before. After that the API server does not trust the webhook.',
  },
];
