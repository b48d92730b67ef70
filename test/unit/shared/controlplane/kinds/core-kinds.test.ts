import { describe, expect, test } from 'vitest';
import { configMapStrategy } from '../../../../../shared/controlplane/kinds/config-map.ts';
import { cronJobStrategy } from '../../../../../shared/controlplane/kinds/cron-job.ts';
import { leaseStrategy } from '../../../../../shared/controlplane/kinds/lease.ts';
import { namespaceStrategy } from '../../../../../shared/controlplane/kinds/namespace.ts';
import { nodeStrategy } from '../../../../../shared/controlplane/kinds/node.ts';
import { runtimeClassStrategy } from '../../../../../shared/controlplane/kinds/runtime-class.ts';
import { priorityClassStrategy } from '../../../../../shared/controlplane/kinds/priority-class.ts';
import { secretStrategy } from '../../../../../shared/controlplane/kinds/secret.ts';
import { serviceAccountStrategy } from '../../../../../shared/controlplane/kinds/service-account.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

describe('a ConfigMap', () => {
  const configMaps = driveKind(configMapStrategy);
  test('has keys that can be file names, each of them once', () => {
    expect(configMaps.create({ metadata: { name: 'c' }, data: { '..': '1', x: '1' }, binaryData: { x: 'AA==' } }).findings).toEqual([
      'data[..] | Invalid value: "..": must not be \'..\'',
      'data[x] | Invalid value: "x": duplicate of key present in binaryData',
    ]);
  });
  test('holds a mebibyte', () => {
    const { findings } = configMaps.create({ metadata: { name: 'c' }, data: { a: 'x'.repeat(1024 * 1024 + 1) } });
    expect(findings).toEqual(['[] | Too long: may not be more than 1048576 bytes']);
  });
  test('never changes again once it is immutable', () => {
    const { object } = configMaps.create({ metadata: { name: 'c' }, immutable: true, data: { a: '1' } });
    expect(configMaps.update(object, (next) => Object.assign(next, { immutable: false, data: {} })).findings).toEqual([
      'immutable | Forbidden: field is immutable when `immutable` is set',
      'data | Forbidden: field is immutable when `immutable` is set',
    ]);
  });
});

describe('a Secret', () => {
  const secrets = driveKind(secretStrategy);
  test('keeps plain text as data', () => {
    const { object } = secrets.create({ metadata: { name: 's' }, stringData: { a: 'hello' }, data: { a: 'eA==', b: 'eA==' } });
    expect([object['data'], object['stringData'], object['type']]).toEqual([{ a: 'aGVsbG8=', b: 'eA==' }, undefined, 'Opaque']);
  });
  test('of a known type has the keys of that type', () => {
    expect(secrets.create({ metadata: { name: 's' }, type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }).findings).toEqual([
      'data[tls.key] | Required value',
    ]);
  });
});

describe('a Namespace', () => {
  const namespaces = driveKind(namespaceStrategy, '');
  test('is active, held by its finalizer, and carries its name as a label', () => {
    const { object } = namespaces.create({ metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'other' } } });
    expect(object).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'n' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    expect(namespaceStrategy.keptAfterDeletion?.(object)).toBe(true);
  });
  test('has a name without dots', () => {
    const [first] = namespaces.create({ metadata: { name: 'a.b' } }).findings;
    expect(first).toBe('metadata.name | Invalid value: "a.b": must not contain dots');
  });
  test('ends only by being deleted', () => {
    const { object } = namespaces.create({ metadata: { name: 'n' } });
    expect(namespaces.updateStatus(object, { phase: 'Terminating' }).findings).toEqual([
      'status.Phase | Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
  });
});

describe('a Node', () => {
  const nodes = driveKind(nodeStrategy, '');
  test('takes no pods before it has said that it is ready', () => {
    expect(nodes.create({ metadata: { name: 'n' } }).object['spec']).toEqual({
      taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    });
  });
  test('keeps the provider that it once named', () => {
    const { object } = nodes.create({ metadata: { name: 'n' }, spec: { providerID: 'a' } });
    expect(nodes.update(object, (next) => Object.assign(next['spec'] as object, { providerID: 'b' })).findings).toEqual([
      'spec.providerID | Forbidden: node updates may not change providerID except from "" to valid',
    ]);
  });
  test('has one range of addresses of each family, the first of them under two names', () => {
    const { object } = nodes.create({ metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24' } });
    expect(object['spec']).toMatchObject({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
    const rangesOf = (...podCIDRs: string[]) => nodes.create({ metadata: { name: 'n' }, spec: { podCIDRs } }).findings;
    expect(rangesOf('x')).toEqual([
      'spec.podCIDRs[0] | Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ]);
    expect(rangesOf('10.0.0.0/24', 'fd00::/64')).toEqual([]);
    expect(rangesOf('10.0.0.0/24', '10.0.1.0/24')).toEqual([
      'spec.podCIDRs | Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
    ]);
  });
  test('says its addresses once, and no negative amounts', () => {
    const { object } = nodes.create({ metadata: { name: 'n' } });
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    expect(
      nodes.updateStatus(object, { addresses: [address, address], capacity: { cpu: '-1' }, allocatable: { pods: '1' } }).findings,
    ).toEqual([
      'status.capacity.cpu | Invalid value: "-1": must be greater than or equal to 0',
      'status.addresses[1] | Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
  });
  test('keeps the name that others once gave it', () => {
    const { object } = nodes.create({ metadata: { name: 'n' } });
    expect(nodes.update(object, (next) => Object.assign(next['spec'] as object, { externalID: 'x' })).findings).toEqual([
      'spec.externalID | Forbidden: may not be updated',
    ]);
  });
});

test('a Lease lasts a while', () => {
  expect(
    driveKind(leaseStrategy).create({ metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }).findings,
  ).toEqual([
    'spec.leaseDurationSeconds | Invalid value: 0: must be greater than 0',
    'spec.leaseTransitions | Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('a priority class of a user is no match for those of the system', () => {
  const classes = driveKind(priorityClassStrategy, '');
  expect(classes.create({ metadata: { name: 'high' }, value: 1_000_000_001 }).findings).toEqual([
    'value | Forbidden: maximum allowed value of a user defined priority is 1000000000',
  ]);
  const { object } = classes.create({ metadata: { name: 'high' }, value: 5 });
  expect(classes.update(object, (next) => (next['value'] = 6)).findings).toEqual(['value | Forbidden: may not be changed in an update.']);
});

test('a runtime class has a handler, and keeps it', () => {
  const classes = driveKind(runtimeClassStrategy, '');
  const handlerOf = (handler?: string) =>
    classes.create({ metadata: { name: 'kata' }, ...(handler === undefined ? {} : { handler }) }).findings;
  expect(handlerOf()).toEqual(['handler | Required value']);
  expect(handlerOf('Kata')).toHaveLength(1);
  const { object } = classes.create({ metadata: { name: 'kata' }, handler: 'kata', overhead: { podFixed: { cpu: '250m' } } });
  expect(classes.update(object, (next) => (next['handler'] = 'runc')).findings).toEqual([
    'handler | Invalid value: "runc": field is immutable',
  ]);
});

describe('a CronJob', () => {
  const cronJobs = driveKind(cronJobStrategy);
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const create = (spec: object) =>
    cronJobs.create({ metadata: { name: 'c' }, spec: { schedule: '@daily', jobTemplate: { spec: { template } }, ...spec } });

  test.each([
    ['', 'Required value'],
    ['* * * *', 'Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'],
    ['61 * * * *', 'Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
    [
      'TZ=Europe/Berlin @daily',
      'Invalid value: "TZ=Europe/Berlin @daily": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ])('is not made with the schedule %j', (schedule, finding) => {
    expect(create({ schedule }).findings).toEqual([`spec.schedule | ${finding}`]);
  });
  test('hears of every fault of its schedule', () => {
    const head = 'spec.schedule | Invalid value: "CRON_TZ=Mars/Olympus @daily"';
    expect(create({ schedule: 'CRON_TZ=Mars/Olympus @daily' }).findings).toEqual([
      `${head}: provided bad location Mars/Olympus: unknown time zone Mars/Olympus`,
      `${head}: cannot use TZ or CRON_TZ in schedule, use timeZone field instead`,
    ]);
  });
  test.each([
    ['', 'timeZone must be nil or non-empty string'],
    ['Mars/Olympus', 'unknown time zone Mars/Olympus'],
    ['../UTC', 'unknown time zone ../UTC'],
    ['Europe//Berlin', 'unknown time zone Europe//Berlin'],
    ['Local', 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
  ])('is not made with the time zone %j', (timeZone, problem) => {
    expect(create({ timeZone }).findings).toEqual([`spec.timeZone | Invalid value: ${JSON.stringify(timeZone)}: ${problem}`]);
  });
  test('may keep a time zone that is not known any more, and have no other such', () => {
    const stored = { ...create({}).object, spec: { ...(create({}).object['spec'] as object), timeZone: 'Old/Zone' } };
    expect(cronJobs.update(stored, () => undefined).findings).toEqual([]);
    expect(cronJobs.update(stored, (next) => Object.assign(next['spec'] as object, { timeZone: 'Older/Zone' })).findings).toEqual([
      'spec.timeZone | Invalid value: "Older/Zone": unknown time zone Older/Zone',
    ]);
  });
});

test('a CronJob leaves what concerns a Job to the Jobs made from it', () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const { object, findings } = driveKind(cronJobStrategy).create({
    metadata: { name: 'c' },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } },
  });
  expect(findings).toEqual([]);
  expect(object['spec']).toMatchObject({
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  expect(object['spec']).not.toHaveProperty('jobTemplate.spec.backoffLimit');
});

test('a ServiceAccount keeps of its secrets the names', () => {
  const { object } = driveKind(serviceAccountStrategy).create({
    metadata: { name: 'a' },
    secrets: [{ name: 's', namespace: 'other', uid: 'u' }, { kind: 'Secret' }],
  });
  expect(object['secrets']).toEqual([{ name: 's' }, {}]);
});
