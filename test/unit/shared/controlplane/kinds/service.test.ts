import { describe, expect, test } from 'vitest';
import { serviceStrategy } from '../../../../../shared/controlplane/kinds/service.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const services = driveKind(serviceStrategy);
const web = (spec: object = {}, name = 'web'): object => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], selector: { app: 'web' }, ...spec },
});
const ports = (object: { [field: string]: unknown }): unknown => (object['spec'] as { ports?: unknown }).ports;

describe('a Service', () => {
  test('gets an address of its own, and the defaults of its ports', () => {
    const { object, findings } = services.create(web());
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      spec: {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        clusterIP: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      },
      status: { loadBalancer: {} },
    });
  });

  test('keeps its address when an update leaves it out, and may not change it', () => {
    const { object } = services.create(web());
    const address = (object['spec'] as { clusterIP: string }).clusterIP;
    const kept = services.update(object, (next) => (next['spec'] = { ports: [{ port: 81 }] }));
    expect(kept).toMatchObject({ findings: [], object: { spec: { clusterIP: address, clusterIPs: [address] } } });
    const moved = services.update(object, (next) =>
      Object.assign(next['spec'] as object, { clusterIP: '10.9.9.9', clusterIPs: ['10.9.9.9'] }),
    );
    expect(moved.findings).toEqual(['spec.clusterIPs[0] | Invalid value: ["10.9.9.9"]: may not change once set']);
  });

  test('without an address needs no ports; others do', () => {
    expect(services.create(web({ ports: undefined, clusterIP: 'None' })).findings).toEqual([]);
    expect(services.create(web({ ports: undefined })).findings).toEqual(['spec.ports | Required value']);
  });

  test('of type NodePort gets a port on the nodes for each of its own, none of them twice', () => {
    const { object } = services.create(
      web({
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      }),
    );
    const nodePorts = (ports(object) as { nodePort: number }[]).map(({ nodePort }) => nodePort);
    expect(new Set(nodePorts).size).toBe(2);
    expect(nodePorts.every((port) => port >= 30_000 && port <= 32_767)).toBe(true);
    expect(ports(services.update(object, (next) => (next.metadata.labels = { a: 'b' })).object)).toEqual(ports(object));
  });

  test('of type ExternalName needs a name and has no address', () => {
    expect(services.create(web({ type: 'ExternalName' })).findings).toEqual(['spec.externalName | Required value']);
    const { object, findings } = services.create(web({ type: 'ExternalName', externalName: 'db.example.com' }));
    expect(findings).toEqual([]);
    expect(object['spec']).not.toHaveProperty('clusterIP');
  });

  test.each([
    [{ ports: [{ port: 0 }] }, 'spec.ports[0].port | Invalid value: 0: must be between 1 and 65535, inclusive'],
    [{ ports: [{ port: 1 }, { port: 2 }] }, 'spec.ports[0].name | Required value'],
    [
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'a' },
        ],
      },
      'spec.ports[1].name | Duplicate value: "a"',
    ],
    [
      { ports: [{ port: 1, protocol: 'ICMP' }] },
      'spec.ports[0].protocol | Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ],
    [{ type: 'Mesh' }, 'spec.type | Unsupported value: "Mesh": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
    [
      { clusterIP: 'here', clusterIPs: ['here'] },
      'spec.clusterIPs[0] | Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ])('with %j is refused', (spec, finding) => {
    expect(services.create(web(spec)).findings).toContain(finding);
  });

  test('has a name that a host may have', () => {
    expect(services.create(web({}, '1a')).findings).toEqual([]);
    expect(services.create(web({}, 'a.b')).findings[0]).toMatch(/^metadata\.name \| Invalid value: "a\.b": /);
  });

  test('is shown with its type, addresses and ports', () => {
    const { object } = services.create(web({ type: 'LoadBalancer', clusterIP: '10.1.2.3', ports: [{ port: 80, nodePort: 30_080 }] }));
    const cells = serviceStrategy.table?.cells(object, Date.parse(object.metadata.creationTimestamp) + 60_000);
    expect(cells).toEqual(['web', 'LoadBalancer', '10.1.2.3', '<pending>', '80:30080/TCP', '60s', 'app=web']);
  });
});
