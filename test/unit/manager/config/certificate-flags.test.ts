import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const parsed = (...args: string[]) => parseFlags(MANAGER_PROGRAM, args, {});
const files = { certFile: 'c', keyFile: 'k' };

describe('the certificates of the manager’s servers', () => {
  test('are those of a Secret of the managers’ own, of all servers that have no other', () => {
    const flags = [
      '--webhook-cert-secret=system/tls',
      '--webhook-bind-address=:9443',
      '--api-bind-address=:8443',
      '--metrics-own-certificate',
    ];
    expect(parsed(...flags)).toMatchObject({
      config: {
        webhook: { tls: 'Own' },
        api: { tls: 'Own' },
        metricsTls: 'Own',
        certificateSecret: {
          secret: { namespace: 'system', name: 'tls' },
          configuration: 'switchyard-manager',
        },
      },
    });
    expect(parsed(...flags.slice(0, 3), '--api-cert-file=c', '--api-key-file=k')).toMatchObject({ config: { api: { tls: files } } });
  });

  test('are files', () => {
    const flags = ['--webhook-bind-address=:9443', '--webhook-tls-cert-file=c', '--webhook-tls-key-file=k'];
    expect(parsed(...flags, '--metrics-cert-file=c', '--metrics-key-file=k')).toMatchObject({
      config: { webhook: { tls: files }, metricsTls: files, certificateSecret: undefined },
    });
  });

  test.each([
    [['--webhook-cert-secret=a', '--webhook-tls-cert-file=c'], /are two certificates for one server/],
    [['--webhook-cert-secret=A_'], /names no Secret/],
    [['--metrics-own-certificate'], /needs --webhook-cert-secret/],
    [['--metrics-own-certificate', '--metrics-cert-file=c', '--metrics-key-file=k'], /two certificates for one server/],
    [['--metrics-cert-file=c'], /--metrics-cert-file and --metrics-key-file go together/],
    [['--api-bind-address=:8443'], /needs --api-cert-file and --api-key-file/],
  ])('are refused where they do not go together: %s', (args, problem) => {
    expect(parsed(...args)).toMatchObject({ kind: 'Invalid', problem: expect.stringMatching(problem) });
  });
});
