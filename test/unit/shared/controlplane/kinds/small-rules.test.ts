/** The small rules of which the validations of kinds are made, and how kinds are written in tables and messages. */
import { describe, expect, test } from 'vitest';
import { labelValueProblems } from '../../../../../shared/kube/name-formats.ts';
import { validateChoice, validateFormat, validateOptionalChoice } from '../../../../../shared/controlplane/kinds/choice-validation.ts';
import { allContainers } from '../../../../../shared/controlplane/kinds/containers.ts';
import { asJob, asPod } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { bumpGeneration, keepSpec, restore } from '../../../../../shared/controlplane/kinds/generation.ts';
import { goValue, sortedMap, writtenSelector } from '../../../../../shared/controlplane/kinds/go-value.ts';
import { validateIp } from '../../../../../shared/controlplane/kinds/ip-validation.ts';
import { formatSelector } from '../../../../../shared/controlplane/kinds/label-selector-format.ts';
import { usableRequirements, validateLabelSelector } from '../../../../../shared/controlplane/kinds/label-selector-validation.ts';
import { validateNonNegative, validateRange } from '../../../../../shared/controlplane/kinds/number-validation.ts';
import {
  validateDescendingPath,
  validateNoBacksteps,
  validateNonReservedPath,
} from '../../../../../shared/controlplane/kinds/path-validation.ts';
import {
  isCount,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
  isStandardQuotaResource,
  mayBeOvercommitted,
  validateContainerResourceName,
  validateQuotaResourceName,
  validateResourceName,
} from '../../../../../shared/controlplane/kinds/resource-names.ts';
import { AGE_COLUMN, column, NAME_COLUMN } from '../../../../../shared/controlplane/kinds/table-columns.ts';
import { matchesLabelSelector } from '../../../../../shared/kube/selectors.ts';
import { anObject } from '../a-served-resource.ts';
import { told } from './findings.ts';

describe('a choice', () => {
  test('is one of a few; an empty one is missing', () => {
    expect(told(validateChoice('A', 'x', ['A', 'B']))).toEqual([]);
    expect(told(validateChoice('', 'x', ['A', 'B']))).toEqual(['x | Required value']);
    expect(told(validateChoice('a', 'x', ['B', 'A']))).toEqual(['x | Unsupported value: "a": supported values: "B", "A"']);
  });
  test('that may be absent may not be empty', () => {
    expect(told(validateOptionalChoice(undefined, 'x', ['A']))).toEqual([]);
    expect(told(validateOptionalChoice('', 'x', ['A']))).toEqual(['x | Unsupported value: "": supported values: "A"']);
  });
});

test('each problem of a format is a finding of its own', () => {
  expect(told(validateFormat(`${'a'.repeat(63)} `, 'x', labelValueProblems))).toHaveLength(2);
  expect(told(validateFormat('a', 'x', labelValueProblems))).toEqual([]);
});

test.each<[number | undefined, string[]]>([
  [undefined, []],
  [0, []],
  [-1, ['n | Invalid value: -1: must be greater than or equal to 0']],
])('%j is not negative', (value, findings) => {
  expect(told(validateNonNegative(value, 'n'))).toEqual(findings);
});

test.each([
  [1, true],
  [5, true],
  [0, false],
  [6, false],
])('%i is between 1 and 5: %s', (value, within) => {
  expect(told(validateRange(value, 1, 5, 'n'))).toEqual(within ? [] : [`n | Invalid value: ${value}: must be between 1 and 5, inclusive`]);
});

test.each([
  ['10.0.0.1', true],
  ['::1', true],
  ['010.0.0.1', false],
  ['host', false],
  ['', false],
])('%j is an IP address: %s', (value, right) => {
  expect(validateIp(value, 'ip').length === 0).toBe(right);
});

test.each<[string, string[], string[]]>([
  ['a/b', [], []],
  ['', [], []],
  ['..a/b', [], [`p | Invalid value: "..a/b": must not start with '..'`]],
  ['a..b', [], []],
  ['a/../b', [`p | Invalid value: "a/../b": must not contain '..'`], [`p | Invalid value: "a/../b": must not contain '..'`]],
  [
    '..',
    [`p | Invalid value: "..": must not contain '..'`],
    [`p | Invalid value: "..": must not contain '..'`, `p | Invalid value: "..": must not start with '..'`],
  ],
  ['/a', ['p | Invalid value: "/a": must be a relative path'], ['p | Invalid value: "/a": must be a relative path']],
])('the path %j stays below where it starts, and takes no name that is reserved', (path, descending, nonReserved) => {
  expect(told(validateDescendingPath(path, 'p'))).toEqual(descending);
  expect(told(validateNonReservedPath(path, 'p'))).toEqual(nonReserved);
});

test('a path from the root may be absolute, but not step back', () => {
  expect(validateNoBacksteps('/a/b', 'p')).toEqual([]);
  expect(validateNoBacksteps('/a/..', 'p')).toHaveLength(1);
});

describe('a label selector', () => {
  test.each<[Parameters<typeof validateLabelSelector>[0], string[]]>([
    [{}, []],
    [
      {
        matchLabels: { a: 'b' },
        matchExpressions: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'Exists' },
        ],
      },
      [],
    ],
    [{ matchLabels: { a: 'b c' } }, [expect.stringMatching(/^s\.matchLabels \| Invalid value: "b c": a valid label must be/) as string]],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      ["s.matchExpressions[0].values | Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      ["s.matchExpressions[0].values | Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
      ['s.matchExpressions[0].operator | Invalid value: "Gt": not a valid selector operator'],
    ],
    [
      { matchExpressions: [{ key: 'a/b/c', operator: 'Exists' }] },
      [expect.stringMatching(/^s\.matchExpressions\[0\]\.key \| Invalid value: "a\/b\/c": a valid label key/) as string],
    ],
  ])('is judged: %j', (selector, findings) => {
    expect(told(validateLabelSelector(selector, 's'))).toEqual(findings);
  });

  test('is usable for matching where it is well formed; an absent one matches nothing', () => {
    const matches = (selector: Parameters<typeof usableRequirements>[0]) => {
      const requirements = usableRequirements(selector);
      return requirements === undefined ? 'unusable' : matchesLabelSelector(requirements, { a: 'b' });
    };
    expect([matches({}), matches({ matchLabels: { a: 'b' } }), matches({ matchLabels: { a: 'c' } }), matches(undefined)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(matches({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).toBe('unusable');
  });

  test.each<[Parameters<typeof formatSelector>[0], string]>([
    [undefined, '<none>'],
    [{}, '<none>'],
    [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
    [
      {
        matchLabels: { b: '2' },
        matchExpressions: [
          { key: 'd', operator: 'DoesNotExist' },
          { key: 'c', operator: 'Exists' },
          { key: 'a', operator: 'In', values: ['y', 'x'] },
          { key: 'e', operator: 'NotIn', values: ['z'] },
        ],
      },
      'a in (x,y),b=2,c,!d,e notin (z)',
    ],
  ])('%j is written %s', (selector, text) => {
    expect(formatSelector(selector)).toBe(text);
  });
});

describe('a value in a message', () => {
  test('has fields that begin with a capital, but for metadata', () => {
    expect(goValue({ rules: [{ onExitCodes: { values: [1] } }], metadata: { labels: {} }, none: undefined })).toEqual({
      Rules: [{ OnExitCodes: { Values: [1] } }],
      metadata: { labels: {} },
      None: null,
    });
    expect([goValue('a'), goValue(undefined), goValue(null)]).toEqual(['a', null, null]);
  });
  test('that is a map is in the order of its keys', () => {
    expect(JSON.stringify(sortedMap({ b: '1', a: '2' }))).toBe('{"a":"2","b":"1"}');
    expect(sortedMap(undefined)).toBeNull();
    expect(JSON.stringify(writtenSelector({ matchLabels: { b: '1', a: '2' } }))).toBe('{"matchLabels":{"a":"2","b":"1"}}');
    expect(writtenSelector({})).toEqual({});
  });
});

describe('a generation', () => {
  const stored = anObject('a', { spec: { x: 1 }, status: { y: 1 } }, { generation: 4 });
  const updated = (content: object) => {
    const next = anObject('a', content);
    bumpGeneration(next, stored);
    return next;
  };
  test('is a new one when the spec differs, and the status stays', () => {
    expect(updated({ spec: { x: 2 } })).toMatchObject({ metadata: { generation: 5 }, status: { y: 1 } });
    expect(updated({ spec: { x: 1 }, status: { y: 9 } })).toMatchObject({ metadata: { generation: 4 }, status: { y: 1 } });
    expect(updated({})).toMatchObject({ metadata: { generation: 5 } });
  });
  test('of what never had one begins', () => {
    const next = anObject('a', { spec: { x: 1 } });
    bumpGeneration(next, anObject('a'));
    expect(next.metadata.generation).toBe(1);
  });
  test('is not touched by a status, which leaves the spec', () => {
    const next = anObject('a', { spec: { x: 2 }, status: { y: 2 } });
    keepSpec(next, stored);
    expect(next).toMatchObject({ spec: { x: 1 }, status: { y: 2 } });
  });
  test('a field that was not there is taken away', () => {
    const next = anObject('a', { status: {} });
    restore(next, anObject('a'), 'status');
    expect(next).not.toHaveProperty('status');
  });
});

describe('a resource', () => {
  test.each<
    [string, { native: boolean; standard: boolean; ofContainers: boolean; extended: boolean; count: boolean; overcommit: boolean }]
  >([
    ['cpu', { native: true, standard: true, ofContainers: true, extended: false, count: false, overcommit: true }],
    ['hugepages-2Mi', { native: true, standard: true, ofContainers: true, extended: false, count: false, overcommit: false }],
    ['pods', { native: true, standard: true, ofContainers: false, extended: false, count: true, overcommit: true }],
    ['count/jobs.batch', { native: false, standard: false, ofContainers: false, extended: true, count: true, overcommit: false }],
    ['example.com/gpu', { native: false, standard: false, ofContainers: false, extended: true, count: false, overcommit: false }],
    ['kubernetes.io/thing', { native: true, standard: false, ofContainers: false, extended: false, count: false, overcommit: true }],
    ['requests.example.com/gpu', { native: false, standard: false, ofContainers: false, extended: false, count: false, overcommit: false }],
    ['constructor', { native: true, standard: false, ofContainers: false, extended: false, count: false, overcommit: true }],
  ])('called %s', (name, expected) => {
    expect({
      native: isNativeResource(name),
      standard: isStandardResource(name),
      ofContainers: isStandardContainerResource(name),
      extended: isExtendedResource(name),
      count: isCount(name),
      overcommit: mayBeOvercommitted(name),
    }).toEqual(expected);
  });
  test('has a name that containers may use; other objects may use more', () => {
    expect([told(validateResourceName('pods', 'n')), told(validateResourceName('bad name', 'n')).length]).toEqual([[], 1]);
    expect(told(validateContainerResourceName('pods', 'n'))).toEqual([
      'n | Invalid value: "pods": must be a standard resource for containers',
    ]);
    expect(told(validateContainerResourceName('requests.example.com/gpu', 'n'))).toEqual([
      `n | Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`,
    ]);
  });
  test('may be limited by a quota under more names, but not under all', () => {
    expect(['pods', 'requests.hugepages-2Mi', 'requests.storage', 'storage', 'thing'].filter(isStandardQuotaResource)).toEqual([
      'pods',
      'requests.hugepages-2Mi',
      'requests.storage',
    ]);
    expect(told(validateQuotaResourceName('storage', 'n'))).toEqual([
      'n | Invalid value: "storage": must be a standard resource for quota',
    ]);
    expect(told(validateQuotaResourceName('count/jobs.batch', 'n'))).toEqual([]);
  });
  test('is of huge pages by its name', () => {
    expect([isHugePages('hugepages-1Gi'), isHugePages('memory')]).toEqual([true, false]);
  });
});

test('containers are visited init containers first, with their places', () => {
  const spec = { containers: [{ name: 'b' }, { name: 'c' }], initContainers: [{ name: 'a' }], ephemeralContainers: [{ name: 'd' }] };
  expect(allContainers(spec, 'spec').map(({ container, path }) => `${path}=${container.name}`)).toEqual([
    'spec.initContainers[0]=a',
    'spec.containers[0]=b',
    'spec.containers[1]=c',
    'spec.ephemeralContainers[0]=d',
  ]);
  expect(allContainers({}, 'spec')).toEqual([]);
});

test('a decoded Job or pod is the object itself', () => {
  const object = anObject('a');
  expect([asJob(object), asPod(object)]).toEqual([object, object]);
});

test('a column is shown always, unless it is a wide one', () => {
  expect(column('A', 'what it is')).toEqual({ name: 'A', type: 'string', format: '', description: 'what it is', priority: 0 });
  expect(column('A', 'x', { wide: true, type: 'integer', format: 'int32' })).toMatchObject({
    type: 'integer',
    format: 'int32',
    priority: 1,
  });
  expect([NAME_COLUMN.format, AGE_COLUMN.name]).toEqual(['name', 'Age']);
});
