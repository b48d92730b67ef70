import { describe, expect, test } from 'vitest';
import {
  validateServiceReference,
  validateWebhookUrl,
} from '../../../../../../shared/controlplane/admission/webhook/webhook-address-validation.ts';
import { WEBHOOK_RESOURCES } from '../../../../../../shared/controlplane/admission/webhook/webhook-configuration.ts';
import { type DecodedWebhook, validateWebhooks } from '../../../../../../shared/controlplane/admission/webhook/webhook-validation.ts';
import type { FieldError } from '../../../../../../shared/controlplane/apimachinery/field-error.ts';
import { driveKind } from '../../../../../support/kind-driver.ts';

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const aWebhook = (parts: DecodedWebhook = {}): DecodedWebhook => ({
  name: 'w.example.com',
  clientConfig: { url: 'https://host/path' },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...parts,
});
const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field} | ${body}`);
const found = (webhooks: DecodedWebhook[], { mutating = true, previous = undefined as DecodedWebhook[] | undefined } = {}): string[] =>
  told(validateWebhooks(webhooks, mutating, previous));

describe('a webhook', () => {
  test('needs a name, an address, rules, versions and its side effects', () => {
    expect(found([aWebhook()])).toEqual([]);
    expect(found([{}])).toEqual([
      'webhooks[0].name | Required value',
      'webhooks[0].sideEffects | Required value: must specify one of None, NoneOnDryRun',
      'webhooks[0].clientConfig | Required value: exactly one of url or service is required',
      'webhooks[0].admissionReviewVersions | Required value: must specify one of v1, v1beta1',
    ]);
  });

  test.each<[DecodedWebhook, string]>([
    [{ name: 'example.com' }, 'name | Invalid value: "example.com": should be a domain with at least three segments separated by dots'],
    [{ failurePolicy: 'Maybe' }, 'failurePolicy | Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
    [{ matchPolicy: 'Near' }, 'matchPolicy | Unsupported value: "Near": supported values: "Equivalent", "Exact"'],
    [{ sideEffects: 'Some' }, 'sideEffects | Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds | Invalid value: 0: the timeout value must be between 1 and 30 seconds'],
    [{ timeoutSeconds: 31 }, 'timeoutSeconds | Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    [{ reinvocationPolicy: 'Often' }, 'reinvocationPolicy | Unsupported value: "Often": supported values: "IfNeeded", "Never"'],
    [
      { clientConfig: { url: 'https://h', service: { name: 's', namespace: 'n' } } },
      'clientConfig | Required value: exactly one of url or service is required',
    ],
    [{ admissionReviewVersions: ['v1', 'v1'] }, 'admissionReviewVersions[1] | Invalid value: "v1": duplicate version'],
    [{ admissionReviewVersions: ['v2'] }, 'admissionReviewVersions | Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
    [
      { rules: [{ ...rule, operations: ['PATCH'] }] },
      'rules[0].operations[0] | Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
    [
      { rules: [{ ...rule, operations: ['*', 'CREATE'] }] },
      `rules[0].operations | Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    ],
    [{ rules: [{ ...rule, apiVersions: [''] }] }, 'rules[0].apiVersions[0] | Required value'],
    [{ rules: [{ ...rule, scope: 'Here' }] }, 'rules[0].scope | Unsupported value: "Here": supported values: "*", "Cluster", "Namespaced"'],
    [{ rules: [{ ...rule, resources: [] }] }, 'rules[0].resources | Required value'],
    [
      { rules: [{ ...rule, resources: ['*', 'pods'] }] },
      `rules[0].resources | Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
    [
      { rules: [{ ...rule, resources: ['*/*', 'pods/status'] }] },
      `rules[0].resources | Invalid value: ["*/*","pods/status"]: if '*/*' is present, must not specify other resources`,
    ],
    [
      { rules: [{ ...rule, resources: ['pods/*', 'pods/status'] }] },
      `rules[0].resources[1] | Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
    ],
    [
      { rules: [{ ...rule, resources: ['*/scale', 'pods/scale'] }] },
      `rules[0].resources[1] | Invalid value: "pods/scale": if '*/scale' is present, must not specify pods/scale`,
    ],
    [{ matchConditions: [{ expression: 'true' }] }, 'matchConditions[0].name | Required value'],
    [{ matchConditions: [{ name: 'a', expression: ' ' }] }, 'matchConditions[0].expression | Required value'],
    [
      { matchConditions: [{ name: 'a', expression: '1' }] },
      'matchConditions[0].expression | Invalid value: "1": must evaluate to bool but got int',
    ],
    [
      {
        matchConditions: [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: 'true' },
        ],
      },
      'matchConditions[1].name | Duplicate value: "a"',
    ],
  ])('is refused with %j', (parts, finding) => {
    expect(found([aWebhook(parts)])).toEqual([`webhooks[0].${finding}`]);
  });

  test('has at most 64 conditions, that compile', () => {
    const conditions = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `c${n}`, expression: 'true' }));
    expect(found([aWebhook({ matchConditions: conditions(64) })])).toEqual([]);
    expect(found([aWebhook({ matchConditions: conditions(65) })])).toEqual([
      'webhooks[0].matchConditions | Too many: 65: must have at most 64 items',
    ]);
    expect(found([aWebhook({ matchConditions: [{ name: 'a', expression: 'object.' }] })])).toEqual([
      expect.stringContaining('webhooks[0].matchConditions[0].expression | Invalid value: "object.": compilation failed: '),
    ]);
  });

  test('is reinvoked only where it may change something', () => {
    expect(found([aWebhook({ reinvocationPolicy: 'Often' })], { mutating: false })).toEqual([]);
  });

  test('has a name of its own, unless the stored ones had not', () => {
    expect(found([aWebhook(), aWebhook()])).toEqual(['webhooks[1].name | Duplicate value: "w.example.com"']);
    expect(found([aWebhook(), aWebhook()], { previous: [aWebhook()] })).toHaveLength(1);
    expect(found([aWebhook(), aWebhook()], { previous: [aWebhook(), aWebhook()] })).toEqual([]);
  });

  test('may keep an unknown version or a broken condition that it had', () => {
    const old = aWebhook({ admissionReviewVersions: ['v2'], matchConditions: [{ name: 'a', expression: 'object.' }] });
    expect(found([old], { previous: [old] })).toEqual([]);
    expect(found([old], { previous: [aWebhook()] })).toHaveLength(2);
  });
});

describe('the address of a webhook', () => {
  const url = (text: string) => told(validateWebhookUrl(text, 'url'));
  test.each<[string, string[]]>([
    ['https://host:8443/path', []],
    ['HTTPS://host', []],
    ['http://host', [`url | Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`]],
    ['https:///path', ['url | Invalid value: "": host must be specified; desired format: https://host[/path]']],
    ['https://me@host', ['url | Invalid value: "me": user information is not permitted in the URL']],
    ['https://host#a', ['url | Invalid value: "a": fragments are not permitted in the URL']],
    ['https://host?a=b', ['url | Invalid value: "a=b": query parameters are not permitted in the URL']],
  ])('%s', (text, findings) => {
    expect(url(text)).toEqual(findings);
  });
  test('that is no URL at all is told what is missing', () => {
    expect(url('foo')).toHaveLength(2);
    expect(url('')).toHaveLength(2);
  });

  const service = { name: 's', namespace: 'n' };
  test.each<[Parameters<typeof validateServiceReference>[0], string[]]>([
    [service, []],
    [{ ...service, port: 65535, path: '/' }, []],
    [{ ...service, path: '/a/b.c/' }, []],
    [{}, ['s.name | Required value: service name is required', 's.namespace | Required value: service namespace is required']],
    [{ ...service, port: 0 }, ['s.port | Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive']],
    [{ ...service, port: 65536 }, ['s.port | Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive']],
    [{ ...service, path: '//' }, ['s.path | Invalid value: "//": segment[0] may not be empty']],
    [{ ...service, path: '/a//b' }, ['s.path | Invalid value: "/a//b": segment[1] may not be empty']],
  ])('may be a service: %j', (reference, findings) => {
    expect(told(validateServiceReference(reference, 's'))).toEqual(findings);
  });
  test('has a path of segments that hosts might have', () => {
    expect(told(validateServiceReference({ ...service, path: '/A' }, 's'))).toEqual([
      expect.stringContaining('s.path | Invalid value: "/A": segment[0]: a lowercase RFC 1123 subdomain'),
    ]);
    expect(told(validateServiceReference({ ...service, path: 'ab' }, 's'))[0]).toBe(`s.path | Invalid value: "ab": must start with a '/'`);
  });
});

describe.each(['Mutating', 'Validating'])('a %sWebhookConfiguration', (what) => {
  const definition = WEBHOOK_RESOURCES.find(({ kind }) => kind === `${what}WebhookConfiguration`);
  if (definition === undefined) throw new Error(`no ${what}WebhookConfiguration`);
  const configurations = driveKind(definition.strategy, '');
  const aConfiguration = (parts: object = {}) => ({
    metadata: { name: 'c' },
    webhooks: [aWebhook({ clientConfig: { service: { name: 's', namespace: 'n' } } })],
    ...parts,
  });
  const created = configurations.create(aConfiguration());

  test('gets the defaults of its webhooks', () => {
    expect(created.findings).toEqual([]);
    expect(created.object).toMatchObject({
      metadata: { generation: 1 },
      webhooks: [
        {
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          timeoutSeconds: 10,
          rules: [{ scope: '*' }],
          clientConfig: { service: { port: 443 } },
          ...(what === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}),
        },
      ],
    });
    if (what === 'Validating') expect((created.object['webhooks'] as object[])[0]).not.toHaveProperty('reinvocationPolicy');
  });

  test('may have no webhooks, and is shown with their number', () => {
    const { object, findings } = configurations.create({ metadata: { name: 'c' } });
    expect(findings).toEqual([]);
    const now = Date.parse(object.metadata.creationTimestamp) + 60_000;
    expect(definition.strategy.table?.cells(object, now)).toEqual(['c', 0, '60s']);
    expect(definition.strategy.table?.cells(created.object, now)).toEqual(['c', 1, '60s']);
  });

  test('is of a new generation when its webhooks change, and only then', () => {
    const update = (change: Parameters<typeof configurations.update>[1]) =>
      configurations.update(created.object, change).object.metadata.generation;
    expect(update((next) => (next.metadata.labels = { a: 'b' }))).toBe(1);
    expect(update((next) => (next['webhooks'] = []))).toBe(2);
  });
});
