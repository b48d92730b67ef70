import { describe, expect, test } from 'vitest';
import { jobStrategy } from '../../../../../shared/controlplane/kinds/job-strategy.ts';
import { driveKind, UID } from '../../../../support/kind-driver.ts';

const jobs = driveKind(jobStrategy);
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } };
const create = (spec: object, metadata: object = { name: 'j' }) => jobs.create({ metadata, spec: { template, ...spec } });
const specOf = (spec: object) => create(spec).object['spec'] as Record<string, unknown>;
const generated = {
  'batch.kubernetes.io/controller-uid': UID,
  'batch.kubernetes.io/job-name': 'j',
  'controller-uid': UID,
  'job-name': 'j',
};

describe('defaults of a new Job', () => {
  test('a Job that says nothing runs once, with six retries', () => {
    expect(specOf({})).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
  });
  test('a work queue keeps its completions unset', () => expect(specOf({ parallelism: 3 })['completions']).toBeUndefined());
  test('a limit per index leaves the overall limit to nobody', () => {
    const spec = specOf({ completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 });
    expect(spec['backoffLimit']).toBe(2147483647);
  });
  test('a pod failure policy waits for pods to be gone before it replaces them', () => {
    const policy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] };
    const spec = specOf({ podFailurePolicy: policy });
    expect(spec['podReplacementPolicy']).toBe('Failed');
    expect(spec['podFailurePolicy']).toEqual({
      rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
    });
  });
  test('template and selector are marked with the UID, and a Job without labels has those of its template', () => {
    const { object } = create({});
    expect(object['spec']).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': UID } },
      template: { metadata: { labels: generated } },
    });
    expect(object.metadata.labels).toEqual(generated);
  });
  test('a Job with labels of its own keeps only those', () => {
    expect(create({}, { name: 'j', labels: { app: 'x' } }).object.metadata.labels).toEqual({ app: 'x' });
  });
  test('what the user says of status and generation is dropped', () => {
    const { object } = jobs.create({ metadata: { name: 'j', generation: 7 }, spec: { template }, status: { active: 3 } });
    expect([object.metadata.generation, object['status']]).toEqual([1, {}]);
  });
});

const indexed = { completionMode: 'Indexed', completions: 5 };
const ignore = { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] };
const exit = (onExitCodes: object) => ({ podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes }] } });
const success = (...rules: object[]) => ({ ...indexed, successPolicy: { rules } });
const pod = (spec: object) => ({ template: { spec: { ...template.spec, ...spec } } });
const container = (fields: object) => pod({ containers: [{ name: 'c', image: 'i', ...fields }] });
const NOT_NEGATIVE = 'must be greater than or equal to 0';

describe('a new Job is refused', () => {
  const rows: [string, object, string[]][] = [
    ['with a negative parallelism', { parallelism: -1 }, [`spec.parallelism | Invalid value: -1: ${NOT_NEGATIVE}`]],
    [
      'Indexed without completions',
      { completionMode: 'Indexed', parallelism: 2 },
      ['spec.completions | Required value: when completion mode is Indexed'],
    ],
    [
      'with maxFailedIndexes and no limit per index',
      { ...indexed, maxFailedIndexes: 1 },
      ['spec.backoffLimitPerIndex | Required value: when maxFailedIndexes is specified'],
    ],
    [
      'with more failed indexes allowed than there are',
      { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 6 },
      ['spec.maxFailedIndexes | Invalid value: 6: must be less than or equal to completions'],
    ],
    [
      'with a limit per index while not Indexed',
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex | Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'with a great many indexes and no bound on failed ones',
      { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 },
      [
        'spec.maxFailedIndexes | Required value: must be specified when completions is above 100000',
        'spec.parallelism | Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
      ],
    ],
    [
      'managed by something without a domain',
      { managedBy: 'me' },
      ['spec.managedBy | Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'with exit code 0 among failures',
      exit({ operator: 'In', values: [0] }),
      ['spec.podFailurePolicy.rules[0].onExitCodes.values[0] | Invalid value: 0: must not be 0 for the In operator'],
    ],
    [
      'with unordered, repeated exit codes',
      exit({ operator: 'NotIn', values: [2, 1, 2] }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2] | Duplicate value: 2',
        'spec.podFailurePolicy.rules[0].onExitCodes.values | Invalid value: [2,1,2]: must be ordered',
      ],
    ],
    [
      'with FailIndex and no limit per index',
      { podFailurePolicy: { rules: [{ ...ignore, action: 'FailIndex' }] } },
      ['spec.podFailurePolicy.rules[0].action | Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
    ],
    [
      'with a failure rule that requires nothing',
      { podFailurePolicy: { rules: [{ action: 'Ignore' }] } },
      ['spec.podFailurePolicy.rules[0] | Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
    ],
    [
      'with too many failure rules',
      { podFailurePolicy: { rules: Array(21).fill(ignore) } },
      ['spec.podFailurePolicy.rules | Too many: 21: must have at most 20 items'],
    ],
    [
      'with an empty success rule',
      success({}),
      ['spec.successPolicy.rules[0] | Required value: at least one of succeededCount or succeededIndexes must be specified'],
    ],
    [
      'with a success rule that counts more than it lists',
      success({ succeededIndexes: '0-2', succeededCount: 4 }),
      [
        'spec.successPolicy.rules[0].succeededCount | Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [
      'with another selector than the generated one',
      { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'x' } } },
      [
        'spec.selector | Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"x"}}: `selector` not auto-generated',
        'spec.template.metadata.labels | Invalid value: {"batch.kubernetes.io/controller-uid":"UID","batch.kubernetes.io/job-name":"j","controller-uid":"UID","job-name":"j"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'whose pods would always be restarted',
      { template: { spec: { containers: template.spec.containers } } },
      ['spec.template.spec.restartPolicy | Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'whose pods restart by themselves under a pod failure policy',
      { ...pod({ restartPolicy: 'OnFailure' }), podFailurePolicy: { rules: [ignore] } },
      ['spec.template.spec.restartPolicy | Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified'],
    ],
    ['without containers', pod({ containers: [] }), ['spec.template.spec.containers | Required value']],
    [
      'with an unreadable probe',
      container({ livenessProbe: { httpGet: { port: 0 }, exec: { command: [] } } }),
      [
        'spec.template.spec.containers[0].livenessProbe.exec.command | Required value',
        'spec.template.spec.containers[0].livenessProbe.httpGet | Forbidden: may not specify more than 1 handler type',
      ],
    ],
    [
      'with a request above its limit',
      container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1500m' } } }),
      ['spec.template.spec.containers[0].resources.requests | Invalid value: "2": must be less than or equal to cpu limit of 1500m'],
    ],
    [
      'with a mount of no volume',
      container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
      ['spec.template.spec.containers[0].volumeMounts[0].name | Not found: "v"'],
    ],
    [
      'with probes on an init container',
      pod({ initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }] }),
      ['spec.template.spec.initContainers[0].livenessProbe | Forbidden: may not be set for init containers without restartPolicy=Always'],
    ],
  ];
  test.each(rows)('%s', (_situation, spec, findings) => expect(create(spec).findings).toEqual(findings));

  test('because the hostname of its last pod would be too long', () => {
    const name = 'x'.repeat(62);
    expect(create({ ...indexed, completions: 11 }, { name }).findings).toEqual([
      `metadata.name | Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-10`,
    ]);
    expect(create({ ...indexed, completions: 1 }, { name: 'x'.repeat(61) }).findings).toEqual([]);
  });
  test('because a template label of the user contradicts the generated one', () => {
    const labelled = { ...template, metadata: { labels: { 'job-name': 'other' } } };
    expect(create({ template: labelled }).findings).toEqual([
      'spec.template.metadata.labels[job-name] | Invalid value: {"batch.kubernetes.io/controller-uid":"UID","batch.kubernetes.io/job-name":"j","controller-uid":"UID","job-name":"other"}: must be \'j\'',
    ]);
  });
});

describe('a new Job is accepted', () => {
  test.each<[string, object]>([
    ['with more pods at once than it needs', { completions: 1, parallelism: 5 }],
    ['with nothing to do', { completions: 0 }],
    ['with no failed indexes allowed', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 }],
    ['with a success rule of no indexes', success({ succeededIndexes: '', succeededCount: 0 })],
    ['with the reserved manager', { managedBy: 'kubernetes.io/job-controller' }],
    [
      'with a sidecar that is probed',
      pod({ initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always', readinessProbe: { tcpSocket: { port: 'web' } } }] }),
    ],
  ])('%s', (_situation, spec) => expect(create(spec).findings).toEqual([]));
});
