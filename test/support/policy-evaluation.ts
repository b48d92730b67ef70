/** Asks match conditions and admission policies about a write, as the embedded control plane does, but without one. */
import type { WorkObject } from '../../shared/api/kubernetes.ts';
import { JOBS, type Resource } from '../../shared/api/resources.ts';
import type { AdmissionRequest } from '../../shared/controlplane/admission/admission-request.ts';
import { compilePolicy, type CompiledPolicy } from '../../shared/controlplane/admission/policy/compiled-policy.ts';
import type { DecodedPolicySpec } from '../../shared/controlplane/admission/policy/policy.ts';
import { objectSelected } from '../../shared/controlplane/admission/request-selection.ts';
import {
  admissionVariables,
  compileMatchConditions,
  type CompiledMatchConditions,
  type MatchCondition,
} from '../../shared/controlplane/admission/webhook/match-conditions.ts';
import { ruleCovers } from '../../shared/controlplane/admission/webhook/webhook-rules.ts';
import type { AnyObject } from '../../shared/controlplane/apimachinery/object.ts';
import type { Paid } from '../../shared/cel/cost-budget.ts';
import { requirementsOf } from '../../shared/kube/selectors.ts';

export type PolicyRequest = {
  readonly subresource: string;
  /** Absent: Jobs. */
  readonly resource?: Resource<WorkObject>;
  readonly object: WorkObject;
  readonly oldObject: WorkObject | undefined;
  readonly username: string;
  readonly fieldManager: string | undefined;
  /** Of the user; absent: none. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

const anyObject = (job: WorkObject): AnyObject => job as unknown as AnyObject;

/** Nobody has any rights that an expression could ask for. */
const NO_RIGHTS = { authorize: () => ({ allowed: false, reason: '' }) };

function admissionRequestOf({
  resource = JOBS,
  subresource,
  object,
  oldObject,
  username,
  fieldManager,
  extra,
}: PolicyRequest): AdmissionRequest {
  const { group, version, plural, kind } = resource;
  return {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    subresource,
    name: object.metadata.name,
    namespace: object.metadata.namespace,
    object: anyObject(object),
    oldObject: oldObject && anyObject(oldObject),
    options: fieldManager === undefined ? {} : { fieldManager },
    dryRun: false,
    user: { name: username, groups: [], ...(extra === undefined ? {} : { extra }) },
    warn: () => undefined,
  };
}

function variablesOf(given: PolicyRequest): Record<string, unknown> {
  const request = admissionRequestOf(given);
  return admissionVariables(request, request, NO_RIGHTS);
}

const conditionsOf = new WeakMap<object, CompiledMatchConditions>();

/** Whether a webhook with these conditions is asked; `paid` hears what it costs to find out. Throws where that cannot be told. */
export function matches(conditions: readonly MatchCondition[], request: PolicyRequest, paid?: Paid): boolean {
  let compiled = conditionsOf.get(conditions);
  if (compiled === undefined) conditionsOf.set(conditions, (compiled = compileMatchConditions(conditions, 'Fail')));
  const { matches: matching, error } = compiled.judge(variablesOf(request), paid);
  if (error !== undefined) throw new Error(error);
  return matching;
}

const policyOf = new WeakMap<object, CompiledPolicy>();

/** The messages of the validations that a request fails, and of what cannot be evaluated; none where the policy does not match. */
export function violations(spec: DecodedPolicySpec, request: PolicyRequest, paid?: Paid): string[] {
  const { objectSelector = {}, resourceRules = [] } = spec.matchConstraints ?? {};
  const asked = admissionRequestOf(request);
  if (!resourceRules.some((rule) => ruleCovers(rule, asked)) || !objectSelected(requirementsOf(objectSelector), asked)) return [];
  let compiled = policyOf.get(spec);
  if (compiled === undefined) policyOf.set(spec, (compiled = compilePolicy({ ...spec, failurePolicy: 'Fail' })));
  return compiled.refusals(variablesOf(request), paid).refusals.map(({ message }) => message);
}
