/** Goal: an evaluation costs what it costs on a real API server. runtime-costs.json is what one counted. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../shared/controlplane/admission/admission-request.ts';
import { createAdmissionEnvironment } from '../../../../shared/controlplane/admission/webhook/admission-environment.ts';
import { authorizerValue } from '../../../../shared/controlplane/admission/webhook/authorizer-library.ts';
import { requestValue } from '../../../../shared/controlplane/admission/webhook/request-value.ts';
import { type CelOutcome, compileCel } from '../../../../shared/cel/environment.ts';
import { toCelValue } from '../../../../shared/cel/values.ts';

type Recorded = {
  readonly variables: { readonly object: object; readonly params: object };
  readonly costs: readonly { readonly expression: string; readonly cost: number; readonly error?: string }[];
};
const { variables, costs } = JSON.parse(readFileSync(path.join(import.meta.dirname, 'runtime-costs.json'), 'utf8')) as Recorded;

const JOBS = { group: 'batch', version: 'v1' };
const request: AdmissionRequest = {
  operation: 'UPDATE',
  kind: { ...JOBS, kind: 'Job' },
  resource: { ...JOBS, resource: 'jobs' },
  subresource: '',
  name: 'report',
  namespace: 'team',
  object: undefined,
  oldObject: undefined,
  options: { fieldManager: 'kubectl' },
  dryRun: false,
  user: { name: 'alice', groups: ['devs', 'ops'], extra: { k: ['v'] } },
  warn: () => undefined,
};
const environment = createAdmissionEnvironment({ hasAuthorizer: true, hasParams: true });

function evaluate(expression: string, given: object = {}): CelOutcome {
  const object = toCelValue(variables.object);
  return compileCel(environment, expression).run({
    object,
    oldObject: object,
    namespaceObject: null,
    params: toCelValue(variables.params),
    request: requestValue(request, request),
    authorizer: authorizerValue({ authorize: () => ({ allowed: false, reason: '' }) }, request),
    ...given,
  });
}

describe('an evaluation costs what cel-go counts, also where it fails, and fails with its words', () => {
  test.each(costs.map(({ expression, cost, error }) => [expression, cost, error] as const))('%s: %i', (expression, cost, error) => {
    expect(evaluate(expression)).toMatchObject({ cost, ...(error === undefined ? {} : { error }) });
  });
});

test('each evaluation is counted for itself', () => {
  const program = compileCel(environment, 'params.exists(x, x == 2)');
  const run = (params: unknown[]): number => program.run({ params: toCelValue(params) }).cost;
  expect([run([1, 2, 3]), run([]), run([1, 2, 3])]).toEqual([17, 2, 17]);
});

describe('an evaluation that costs more than a million units', () => {
  const limit = 'operation cancelled: actual cost limit exceeded';
  const numbers = { params: Array.from({ length: 500 }, (_, i) => BigInt(i)) };

  test('is cut short, with the sentence of cel-go', () => {
    expect(evaluate('params.all(x, params.all(y, x + y >= 0))', numbers)).toMatchObject({ error: limit });
    expect(evaluate('params.all(x, x >= 0)', numbers)).toMatchObject({ value: true });
  });

  test('is cut short even where other errors would be passed over', () => {
    expect(evaluate('params.all(x, params.all(y, x + y >= 0)) || true', numbers)).toMatchObject({ error: limit });
    expect(evaluate('params.exists(z, params.all(x, params.all(y, x + y >= 0)))', numbers)).toMatchObject({ error: limit });
  });

  test('and so is one in which cel-go fails to count what sorting an error costs', () => {
    const error = 'internal error: interface conversion: *types.Err is not traits.Lister: missing method Add';
    expect(evaluate('[1 / params.zero].distinct().size() > 0 || true')).toMatchObject({ error });
    expect(evaluate('[1, 2].exists(x, [3 / (x - 1)].sort().size() == 1)')).toMatchObject({ error });
  });

  test('may ask what the user may do twice, and not three times', () => {
    const asked = "authorizer.group('batch').resource('jobs').check('get').allowed()";
    expect(evaluate(`${asked} || ${asked}`)).toMatchObject({ value: false, cost: 700_008 });
    expect(evaluate(`${asked} || ${asked} || ${asked}`)).toMatchObject({ error: limit });
  });
});
