import { describe, expect, test } from 'vitest';
import { networkPolicyStrategy } from '../../../../../shared/controlplane/kinds/network-policy.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const policies = driveKind(networkPolicyStrategy);
const policy = (spec: object): object => ({ metadata: { name: 'p' }, spec: { podSelector: { matchLabels: { app: 'web' } }, ...spec } });

describe('a NetworkPolicy', () => {
  test('is about what comes in, and about what goes out if it has rules for that', () => {
    expect(policies.create(policy({})).object['spec']).toMatchObject({ policyTypes: ['Ingress'] });
    const { object } = policies.create(policy({ egress: [{ ports: [{ port: 443 }] }] }));
    expect(object['spec']).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ port: 443, protocol: 'TCP' }] }] });
  });

  test('may name pods, namespaces and blocks of addresses', () => {
    const from = [
      { podSelector: {} },
      { namespaceSelector: { matchLabels: { a: 'b' } } },
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
    ];
    expect(policies.create(policy({ ingress: [{ from, ports: [{ port: 'http' }, { port: 1, endPort: 9 }] }] })).findings).toEqual([]);
  });

  test.each([
    [{ ingress: [{ from: [{}] }] }, 'spec.ingress[0].from[0] | Required value: must specify a peer'],
    [
      { egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] },
      'spec.egress[0].to[0] | Forbidden: may not specify both ipBlock and another peer',
    ],
    [
      { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/33' } }] }] },
      'spec.egress[0].to[0].ipBlock.cidr | Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
    [
      { ingress: [{ ports: [{ port: 9, endPort: 1 }] }] },
      'spec.ingress[0].ports[0].endPort | Invalid value: 1: must be greater than or equal to `port`',
    ],
    [
      { ingress: [{ ports: [{ port: 'http', endPort: 1 }] }] },
      'spec.ingress[0].ports[0].endPort | Invalid value: 1: may not be specified when `port` is non-numeric',
    ],
    [{ policyTypes: ['Sideways'] }, 'spec.policyTypes[0] | Unsupported value: "Sideways": supported values: "Egress", "Ingress"'],
    [
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      'spec.policyTypes | Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
    ],
  ])('with %j is refused', (spec, finding) => {
    expect(policies.create(policy(spec)).findings).toContain(finding);
  });

  test('is shown with the pods that it is about', () => {
    const { object } = policies.create(policy({}));
    expect(networkPolicyStrategy.table?.cells(object, Date.parse(object.metadata.creationTimestamp))).toEqual(['p', 'app=web', '0s']);
  });
});
