import { type LabelRequirements, requirementsOf } from '../../../kube/selectors.ts';
import { notFound, StatusError } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import { toCelValue } from '../../../cel/values.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { type Admission, type AdmissionRequest, refusal } from '../admission-request.ts';
import { type Coverage, coverageOf, type Equivalent, inVersion, namespaceSelected, objectSelected } from '../request-selection.ts';
import { admissionVariables } from '../webhook/match-conditions.ts';
import { isExemptFromWebhooks, isNamespaceObject } from '../webhook/webhook-rules.ts';
import { type CompiledPolicy, compilePolicy, type Refusal } from './compiled-policy.ts';
import {
  asPolicy,
  asPolicyBinding,
  type DecodedBindingSpec,
  type DecodedMatchResources,
  type DecodedNamedRule,
  type DecodedPolicySpec,
} from './policy.ts';
import { namespaceVariable } from './namespace-variable.ts';
import { paramsOf, type ParamSource } from './params.ts';

export type PolicyAdmissionDeps = {
  /** The stored ValidatingAdmissionPolicies and their bindings, by name: the same list until something changes. */
  readonly policies: () => readonly StoredObject[];
  readonly bindings: () => readonly StoredObject[];
  /** A stored Namespace. */
  readonly namespace: (name: string) => AnyObject | undefined;
  readonly params: ParamSource;
  /** The same resource in its other served versions, or under another group. */
  readonly equivalents: (request: AdmissionRequest) => readonly Equivalent[];
  readonly authorizer: Authorizer;
};

/** A policy with its bindings; one without is never asked. */
type Hook = {
  readonly name: string;
  readonly spec: DecodedPolicySpec;
  readonly match: Match | undefined;
  readonly policy: CompiledPolicy;
  readonly bindings: readonly BoundPolicy[];
};
type BoundPolicy = {
  readonly name: string;
  readonly spec: DecodedBindingSpec;
  /** Undefined: it narrows nothing. */
  readonly match: Match | undefined;
};
type Match = { readonly resources: DecodedMatchResources; readonly namespaces: LabelRequirements; readonly objects: LabelRequirements };

/** Who refuses; without binding it is the policy itself that cannot be used. */
type Denial = Refusal & { readonly policy: string; readonly binding: string | undefined };

/** Asks the stored ValidatingAdmissionPolicies, as the plugin ValidatingAdmissionPolicy does. Everything about it is synchronous. */
export function createPolicyAdmission(deps: PolicyAdmissionDeps): Admission {
  const hooksFor = createPolicyIndex(deps);
  return {
    mutate: () => undefined,
    validate: (request) => {
      if (isExemptFromWebhooks(request)) return undefined;
      const denials = hooksFor(request.resource.resource).flatMap((hook) => askPolicy(hook, request, deps));
      const [first] = denials;
      if (first !== undefined) throw denied(request, first);
      return undefined;
    },
  };
}

/** Which policies may concern a resource, by its plural name; made anew when a policy or a binding has changed. */
function createPolicyIndex({ policies, bindings }: PolicyAdmissionDeps): (plural: string) => readonly Hook[] {
  // Stored objects are never changed, so what is compiled from one holds for as long as the object lives.
  const compiled = new WeakMap<AnyObject, CompiledPolicy>();
  const compiledOf = (object: AnyObject, spec: DecodedPolicySpec): CompiledPolicy => {
    let policy = compiled.get(object);
    if (policy === undefined) compiled.set(object, (policy = compilePolicy(spec)));
    return policy;
  };
  let seen: { readonly policies: readonly StoredObject[]; readonly bindings: readonly StoredObject[] } | undefined;
  let hooks: readonly Hook[] = [];
  let byPlural = new Map<string, readonly Hook[]>();

  return (plural) => {
    const now = { policies: policies(), bindings: bindings() };
    if (now.policies.length === 0 || now.bindings.length === 0) return [];
    if (seen?.policies !== now.policies || seen.bindings !== now.bindings) {
      seen = now;
      hooks = now.policies.flatMap(({ object }) => hookOf(object, now.bindings, compiledOf));
      byPlural = new Map();
    }
    let found = byPlural.get(plural);
    if (found === undefined) byPlural.set(plural, (found = hooks.filter((hook) => mayConcern(hook, plural))));
    return found;
  };
}

function hookOf(
  object: AnyObject,
  bindings: readonly StoredObject[],
  compiledOf: (object: AnyObject, spec: DecodedPolicySpec) => CompiledPolicy,
): Hook[] {
  const { metadata, spec = {} } = asPolicy(object);
  const bound = bindings.flatMap((stored): BoundPolicy[] => {
    const { spec: binding = {} } = asPolicyBinding(stored.object);
    return binding.policyName === metadata.name ? [{ name: stored.name, spec: binding, match: matchOf(binding.matchResources) }] : [];
  });
  if (bound.length === 0) return [];
  return [{ name: metadata.name, spec, match: matchOf(spec.matchConstraints), policy: compiledOf(object, spec), bindings: bound }];
}

const matchOf = (resources: DecodedMatchResources | undefined): Match | undefined =>
  resources === undefined
    ? undefined
    : {
        resources,
        namespaces: requirementsOf(resources.namespaceSelector ?? {}),
        objects: requirementsOf(resources.objectSelector ?? {}),
      };

/** Equivalent resources have the same plural name (versions of one resource, Events of either group). */
const mayConcern = ({ match }: Hook, plural: string): boolean =>
  (match?.resources.resourceRules ?? []).some(({ resources = [] }) =>
    resources.some((pattern) => ['*', plural].includes(pattern.split('/')[0] ?? '')),
  );

function askPolicy(hook: Hook, request: AdmissionRequest, deps: PolicyAdmissionDeps): Denial[] {
  const { name, match, spec } = hook;
  const ignoresErrors = spec.failurePolicy === 'Ignore';
  const misconfigured = (error: unknown, binding: string | undefined): Denial[] => {
    const what = binding === undefined ? 'policy' : 'binding';
    return ignoresErrors ? [] : [{ policy: name, binding, message: `failed to configure ${what}: ${messageOf(error)}`, reason: '' }];
  };
  let coverage: Coverage | undefined;
  try {
    coverage = match === undefined ? undefined : matches(match, request, deps);
  } catch (error) {
    return misconfigured(error, undefined);
  }
  if (coverage === undefined) return [];
  const seen = variablesOf(inVersion(request, coverage.version), request, deps);
  return hook.bindings.flatMap((binding) => {
    try {
      if (binding.match !== undefined && matches(binding.match, request, deps) === undefined) return [];
      const params = paramsOf(spec.paramKind, binding.spec.paramRef, request.namespace, deps.params);
      return params.flatMap((param) => judged(hook, binding, { ...seen(), params: toCelValue(param) }, request));
    } catch (error) {
      return misconfigured(error, binding.name);
    }
  });
}

/** The variables of one request, made when the first binding needs them. */
function variablesOf(request: AdmissionRequest, asked: AdmissionRequest, deps: PolicyAdmissionDeps): () => Record<string, unknown> {
  let made: Record<string, unknown> | undefined;
  return () => (made ??= { ...admissionVariables(request, asked, deps.authorizer), namespaceObject: namespaceOf(asked, deps) });
}

function namespaceOf(request: AdmissionRequest, { namespace }: PolicyAdmissionDeps): unknown {
  if (request.namespace === '' || isNamespaceObject(request)) return null;
  const found = namespace(request.namespace);
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
  return namespaceVariable(found);
}

/** Carries out the actions of a binding: what it denies is returned, of what it warns a warning is added. */
function judged(hook: Hook, binding: BoundPolicy, variables: Record<string, unknown>, request: AdmissionRequest): Denial[] {
  const { refusals, denials } = hook.policy.refusals(variables);
  const by = { policy: hook.name, binding: binding.name };
  const actions = binding.spec.validationActions ?? [];
  if (actions.includes('Warn')) {
    for (const { message } of refusals) {
      request.warn(`Validation failed for ValidatingAdmissionPolicy '${by.policy}' with binding '${by.binding}': ${message}`);
    }
  }
  return [...(actions.includes('Deny') ? refusals : []), ...denials].map((each) => ({ ...each, ...by }));
}

/** In which version a policy or binding concerns a request; undefined when it does not. */
function matches({ resources, namespaces, objects }: Match, request: AdmissionRequest, deps: PolicyAdmissionDeps): Coverage | undefined {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources;
  const covers = (rules: readonly DecodedNamedRule[]): Coverage | undefined =>
    coverageOf(
      rules,
      matchPolicy,
      request,
      deps.equivalents,
      ({ resourceNames = [] }) => resourceNames.length === 0 || resourceNames.includes(request.name),
    );
  // The rules first: they tell most apart, and a namespace that is missing is no concern of a policy about something else.
  const coverage = resourceRules.length === 0 ? { version: undefined } : covers(resourceRules);
  if (coverage === undefined || !objectSelected(objects, request) || covers(excludeResourceRules) !== undefined) return undefined;
  return namespaceSelected(namespaces, request, (name) => labelsOf(deps.namespace(name))) ? coverage : undefined;
}

const labelsOf = (object: AnyObject | undefined): Readonly<Record<string, string>> | undefined =>
  object === undefined ? undefined : (object.metadata.labels ?? {});

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denied(request: AdmissionRequest, { policy, binding, message, reason }: Denial): StatusError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const sentence = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  const error = refusal(request, sentence, [{ message: sentence }]);
  const code = CODES[reason] ?? 422;
  return new StatusError(code, reason === '' ? 'Invalid' : reason, error.message, error.details);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
