import { describe, expect, test } from 'vitest';
import { CERTIFICATES_PROGRAM } from '../../../../manager/config/certificates-program.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const parsed = (...args: string[]) => parseFlags(CERTIFICATES_PROGRAM, args, {});

describe('the flags of switchyard-certificates', () => {
  test('name the Secret, the DNS names and the webhook configurations', () => {
    const flags = ['--webhook-cert-secret=system/tls', '--webhook-cert-names=a.b.svc, a.b,a.b', '--webhook-configuration=mine'];
    expect(parsed(...flags, '--health-bind-address=0.0.0.0:8080')).toEqual({
      kind: 'Run',
      config: {
        kubeconfig: undefined,
        certificateSecret: { secret: { namespace: 'system', name: 'tls' }, configuration: 'mine' },
        names: ['a.b.svc', 'a.b'],
        healthAddress: '0.0.0.0:8080',
        logLevel: 'info',
      },
    });
  });

  test('fit the names of a release called switchyard by default, and serve health on loopback', () => {
    expect(parsed()).toMatchObject({
      config: {
        certificateSecret: {
          secret: { namespace: undefined, name: 'switchyard-manager-webhook-tls' },
          configuration: 'switchyard-manager',
        },
        names: ['switchyard-manager.switchyard.svc'],
        healthAddress: '127.0.0.1:0',
      },
    });
    expect(parsed('--health-bind-address=0')).toMatchObject({ config: { healthAddress: undefined } });
  });

  test.each([
    ['--webhook-cert-names=a..b', /"a\.\.b" is no DNS name/],
    ['--webhook-cert-secret=A_', /names no Secret/],
  ])('are refused where they cannot be used: %s', (arg, problem) => {
    expect(parsed(arg)).toMatchObject({ kind: 'Invalid', problem: expect.stringMatching(problem) });
  });
});
