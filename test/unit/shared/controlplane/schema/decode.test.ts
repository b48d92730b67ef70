import { describe, expect, test } from 'vitest';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import { decodeObject } from '../../../../../shared/controlplane/schema/decode.ts';
import type { FieldValidation, ObjectSchema } from '../../../../../shared/controlplane/schema/schema.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';

const schemaOf = (group: string, kind: string): ObjectSchema => {
  const schema = builtInSchema(group, 'v1', kind);
  if (schema === undefined) throw new Error(`no schema of ${kind}`);
  return schema;
};
const [pod, job, configMap, lease] = [
  schemaOf('', 'Pod'),
  schemaOf('batch', 'Job'),
  schemaOf('', 'ConfigMap'),
  schemaOf('coordination.k8s.io', 'Lease'),
];

const decode = (schema: ObjectSchema, body: unknown, validation: FieldValidation = 'Warn') =>
  decodeObject(typeof body === 'string' ? body : JSON.stringify(body), 'application/json', schema, validation);
const refusalOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

describe('what a decoded object looks like', () => {
  test('nulls, empty lists and zero values that Go would omit are gone', () => {
    const { object } = decode(pod, {
      metadata: { name: 'p', labels: {}, annotations: null },
      spec: { hostNetwork: false, priority: 0, tolerations: [], nodeName: '', containers: [{ name: 'c', tty: false, args: null }] },
    });
    expect(object.metadata).toEqual({ name: 'p' });
    expect(object.spec).toEqual({ priority: 0, containers: [{ name: 'c', resources: {} }] });
  });

  test('fields that Go always writes are there when they were not given', () => {
    const { object } = decode(pod, { spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(object.spec).toEqual({ containers: null });
    expect(object.status).toEqual({ conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] });
  });

  test('a pointer keeps its empty value', () => {
    const { object } = decode(job, {
      spec: { parallelism: 0, template: { spec: { securityContext: {} } } },
      status: { failedIndexes: '', active: 0 },
    });
    expect(object).toMatchObject({ spec: { parallelism: 0, template: { spec: { securityContext: {} } } }, status: { failedIndexes: '' } });
    expect(object.status).not.toHaveProperty('active');
  });

  test('quantities are written canonically and seconds lose their fraction', () => {
    const { object } = decode(pod, {
      spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: 0.5 } } }] },
      status: { startTime: '2024-01-01T01:00:00.999+01:00' },
    });
    expect(object.spec).toMatchObject({ containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '500m' } } }] });
    expect(object.status).toEqual({ startTime: '2024-01-01T00:00:00Z' });
  });

  test('kind and apiVersion may be left out', () => {
    expect(decode(job, {}).object).toMatchObject({ kind: 'Job', apiVersion: 'batch/v1' });
  });

  test('YAML is read as JSON would be, with the booleans of YAML 1.1 and without dates', () => {
    const body = 'metadata:\n  name: c\ndata:\n  day: "yes"\n';
    expect(decodeObject(body, 'application/yaml', configMap, 'Warn').object.data).toEqual({ day: 'yes' });
    const dated = 'metadata: {name: c, annotations: {when: 2024-01-01}}\nimmutable: on\n';
    expect(decodeObject(dated, 'application/yaml', configMap, 'Warn').object).toMatchObject({
      metadata: { annotations: { when: '2024-01-01' } },
      immutable: true,
    });
  });

  test('a key called __proto__ is a key like any other', () => {
    const { object } = decode(configMap, '{"data":{"__proto__":"x"}}');
    expect(Object.entries(object.data ?? {})).toEqual([['__proto__', 'x']]);
  });
});

describe('unknown and duplicate fields', () => {
  const body = '{"metadata":{"name":"c","bogusMeta":1},"bogus":true,"data":{"a":"1","a":"2"}}';
  const problems = ['unknown field "metadata.bogusMeta"', 'unknown field "bogus"', 'duplicate field "data.a"'];

  test('are warnings by default, in the order of the text, and the last value counts', () => {
    const { object, warnings } = decode(configMap, body);
    expect(warnings).toEqual(problems);
    expect(object.data).toEqual({ a: '2' });
    expect(object).not.toHaveProperty('bogus');
  });

  test('are refused by Strict', () => {
    expect(refusalOf(() => decode(configMap, body, 'Strict'))).toBe(
      `400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${problems.join(', ')}`,
    );
  });

  test('go unnoticed with Ignore', () => {
    expect(decode(configMap, body, 'Ignore').warnings).toEqual([]);
  });

  test('an escaped quote or a colon inside a string is no field', () => {
    expect(decode(configMap, String.raw`{"data":{"a":"x\":y","b":"\\"}}`).warnings).toEqual([]);
  });

  test('in lists the index is named', () => {
    const { warnings } = decode(pod, { spec: { containers: [{ name: 'a' }, { name: 'b', env: [{ name: 'E', vaule: 'x' }] }] } });
    expect(warnings).toEqual(['unknown field "spec.containers[1].env[0].vaule"']);
  });
});

describe('refusals', () => {
  const cases: readonly (readonly [string, ObjectSchema, unknown, string])[] = [
    [
      'a string for an int',
      job,
      { spec: { parallelism: 'two' } },
      'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32',
    ],
    [
      'an int32 overflow',
      job,
      { spec: { completions: 3e9 } },
      'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal number 3000000000 into Go struct field JobSpec.spec.completions of type int32',
    ],
    [
      'no quantity',
      pod,
      { spec: { containers: [{ name: 'c', resources: { limits: { cpu: 'lots' } } }] } },
      'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression \'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\'',
    ],
    [
      'a micro time without fraction',
      lease,
      { spec: { renewTime: '2024-01-01T00:00:00Z' } },
      'Lease in version "v1" cannot be handled as a Lease: parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ],
    [
      'a day that no month has',
      job,
      { status: { startTime: '2023-02-29T00:00:00Z' } },
      'Job in version "v1" cannot be handled as a Job: parsing time "2023-02-29T00:00:00Z": day out of range',
    ],
    [
      'a kind that does not exist',
      job,
      { apiVersion: 'batch/v1', kind: 'Pod' },
      'Pod in version "v1" cannot be handled as a Job: no kind "Pod" is registered for version "batch/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'another kind',
      configMap,
      { apiVersion: 'v1', kind: 'Secret' },
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'no JSON',
      configMap,
      '{',
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
    ],
    [
      'nothing',
      configMap,
      '',
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
  ];
  test.each(cases)('%s', (_name, schema, body, message) => {
    expect(refusalOf(() => decode(schema, body))).toBe(`400 ${message}`);
  });
});
