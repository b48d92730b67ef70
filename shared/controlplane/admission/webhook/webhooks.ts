import type { LabelSelector } from '../../../api/kubernetes.ts';
import { type LabelRequirements, matchesLabelSelector, requirementsOf } from '../../../kube/selectors.ts';
import { given } from '../../../runtime/given.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { forbidden, internalError, notFound } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import type { Admission, AdmissionRequest, GroupVersionKind, GroupVersionResource } from '../admission-request.ts';
import { compileMatchConditions, type CompiledMatchConditions, type MatchCondition } from './match-conditions.ts';
import { denial, readReview, type WebhookVerdict, writeReview } from './webhook-review.ts';
import { isExemptFromWebhooks, isNamespaceObject, ruleCovers, type WebhookRule } from './webhook-rules.ts';
import type { WebhookClient } from './webhook-client.ts';
import { applyReviewPatch } from './webhook-patch.ts';

export type WebhookAdmissionDeps = {
  /** The stored MutatingWebhookConfigurations and ValidatingWebhookConfigurations, in the order of their names. */
  readonly mutatingConfigurations: () => Iterable<AnyObject>;
  readonly validatingConfigurations: () => Iterable<AnyObject>;
  /** Labels of a namespace; undefined when it does not exist. */
  readonly namespaceLabels: (name: string) => Readonly<Record<string, string>> | undefined;
  /** Decodes and defaults an object that a webhook has patched. Throws for what is not an object of that kind. */
  readonly decode: (patched: unknown, request: AdmissionRequest) => AnyObject;
  /** The same resource in its other served versions. */
  readonly equivalents: (request: AdmissionRequest) => readonly Equivalent[];
  readonly client: WebhookClient;
  readonly authorizer: Authorizer;
  readonly newUid: () => string;
  readonly log: Logger;
};

/** One entry of `webhooks` of a configuration, after defaulting. */
type Webhook = {
  readonly name: string;
  readonly clientConfig: { readonly url?: string; readonly caBundle?: string; readonly service?: WebhookService };
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Equivalent' | 'Exact';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
};
type WebhookService = { readonly name: string; readonly namespace: string; readonly path?: string; readonly port?: number };

/** Another version of a resource. Custom resources convert between versions by their apiVersion alone. */
export type Equivalent = { readonly resource: GroupVersionResource; readonly kind: GroupVersionKind };

/** A webhook whose rules cover a request, and the version in which they do; undefined for the request's own. */
type Candidate = { readonly compiled: CompiledWebhook; readonly version: Equivalent | undefined };

type CompiledWebhook = {
  readonly webhook: Webhook;
  readonly namespaces: LabelRequirements;
  readonly objects: LabelRequirements;
  readonly conditions: CompiledMatchConditions;
};

/** Calls the webhooks of the stored configurations, as the MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins do. */
export function createWebhookAdmission(deps: WebhookAdmissionDeps): Admission {
  // Stored objects are never changed, so what is compiled from one holds for as long as the object lives.
  const compiled = new WeakMap<AnyObject, readonly CompiledWebhook[]>();
  const webhooksOf = (configuration: AnyObject): readonly CompiledWebhook[] => {
    let webhooks = compiled.get(configuration);
    if (webhooks === undefined) compiled.set(configuration, (webhooks = webhooksIn(configuration).map(compileWebhook)));
    return webhooks;
  };
  const candidates = (configurations: Iterable<AnyObject>, request: AdmissionRequest): Candidate[] => {
    const found: Candidate[] = [];
    if (isExemptFromWebhooks(request)) return found;
    for (const configuration of configurations) {
      for (const each of webhooksOf(configuration)) {
        const candidate = candidateOf(each, request, deps);
        if (candidate !== undefined) found.push(candidate);
      }
    }
    return found;
  };

  return {
    mutate(request) {
      const webhooks = candidates(deps.mutatingConfigurations(), request);
      return webhooks.length === 0 ? undefined : mutateWith(webhooks, request, deps);
    },
    validate(request) {
      const webhooks = candidates(deps.validatingConfigurations(), request);
      return webhooks.length === 0 ? undefined : validateWith(webhooks, request, deps);
    },
  };
}

function candidateOf(compiled: CompiledWebhook, request: AdmissionRequest, deps: WebhookAdmissionDeps): Candidate | undefined {
  const { rules = [], matchPolicy } = compiled.webhook;
  if (rules.some((rule) => ruleCovers(rule, request))) return { compiled, version: undefined };
  if (matchPolicy === 'Exact') return undefined;
  const version = deps.equivalents(request).find((each) => rules.some((rule) => ruleCovers(rule, { ...request, ...each })));
  return version === undefined ? undefined : { compiled, version };
}

/** The request as a webhook of another version sees it. */
const inVersion = (request: AdmissionRequest, version: Equivalent | undefined): AdmissionRequest =>
  version === undefined
    ? request
    : { ...request, ...version, object: converted(request.object, version), oldObject: converted(request.oldObject, version) };
const converted = (object: AnyObject | undefined, { kind: { group, version } }: { kind: GroupVersionKind }): AnyObject | undefined =>
  object === undefined ? undefined : { ...object, apiVersion: group === '' ? version : `${group}/${version}` };

const webhooksIn = (configuration: AnyObject): Webhook[] => (Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : []);

const compileWebhook = (webhook: Webhook): CompiledWebhook => ({
  webhook,
  namespaces: requirementsOf(webhook.namespaceSelector ?? {}),
  objects: requirementsOf(webhook.objectSelector ?? {}),
  conditions: compileMatchConditions(webhook.matchConditions ?? [], webhook.failurePolicy ?? 'Fail'),
});

/**
 * One after the other, in the order of the configurations' names. When a webhook changes the object, the earlier
 * ones that ask for it (`reinvocationPolicy: IfNeeded`) get one more look, in a second pass.
 */
async function mutateWith(
  webhooks: readonly Candidate[],
  request: AdmissionRequest,
  deps: WebhookAdmissionDeps,
): Promise<AnyObject | undefined> {
  let object = request.object;
  let eligible = new Set<Candidate>();
  let again = new Set<Candidate>();
  const runPass = async (chosen: readonly Candidate[]): Promise<void> => {
    for (const each of chosen) {
      const current = { ...request, object };
      if (!shouldCall(each, current, deps)) continue;
      const changed = await callMutating(each, current, deps);
      if (changed !== undefined) {
        object = changed;
        again = new Set([...again, ...eligible]);
        eligible = new Set();
      }
      if (each.compiled.webhook.reinvocationPolicy === 'IfNeeded') eligible.add(each);
    }
  };
  await runPass(webhooks);
  const second = webhooks.filter((each) => again.has(each));
  if (second.length > 0) await runPass(second);
  return object;
}

/** The patched object; undefined when the webhook changed nothing. */
async function callMutating(candidate: Candidate, request: AdmissionRequest, deps: WebhookAdmissionDeps): Promise<AnyObject | undefined> {
  const verdict = await review(candidate, request, true, deps);
  if (verdict?.patch === undefined) return undefined;
  const { compiled, version } = candidate;
  const patched = applyReviewPatch(compiled.webhook.name, verdict.patch, inVersion(request, version).object);
  if (patched === undefined) return undefined;
  try {
    return deps.decode(patched, request);
  } catch (error) {
    throw internalError(messageOf(error));
  }
}

/** All at once; the first refusal in the order of the configurations is the answer. */
async function validateWith(webhooks: readonly Candidate[], request: AdmissionRequest, deps: WebhookAdmissionDeps): Promise<void> {
  const called = webhooks.filter((each) => shouldCall(each, request, deps));
  const outcomes = await Promise.allSettled(called.map((each) => review(each, request, false, deps)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Selectors and match conditions; the rules have been looked at before. */
function shouldCall({ compiled: each, version }: Candidate, request: AdmissionRequest, deps: WebhookAdmissionDeps): boolean {
  if (!namespaceMatches(each, request, deps)) return false;
  if (each.objects.length > 0 && ![request.object, request.oldObject].some((object) => selects(each.objects, object))) return false;
  const outcome = each.conditions.evaluate(inVersion(request, version), deps.authorizer);
  if (outcome.error !== undefined) throw forbidden(request.resource, request.name, outcome.error);
  return outcome.matches;
}

function namespaceMatches({ namespaces }: CompiledWebhook, request: AdmissionRequest, deps: WebhookAdmissionDeps): boolean {
  if (namespaces.length === 0) return true;
  if (isNamespaceObject(request) && request.subresource === '' && request.object !== undefined) return selects(namespaces, request.object);
  if (request.namespace === '') return true;
  const labels = deps.namespaceLabels(request.namespace);
  if (labels === undefined) throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
  return matchesLabelSelector(namespaces, labels);
}

const selects = (requirements: LabelRequirements, object: AnyObject | undefined): boolean =>
  object?.metadata !== undefined && matchesLabelSelector(requirements, object.metadata.labels);

/** The verdict of one webhook; undefined when it failed and failures are to be ignored. Throws a StatusError for a refusal. */
async function review(
  candidate: Candidate,
  request: AdmissionRequest,
  mutating: boolean,
  deps: WebhookAdmissionDeps,
): Promise<WebhookVerdict | undefined> {
  const { webhook } = candidate.compiled;
  let verdict: WebhookVerdict;
  try {
    verdict = await ask(candidate, request, mutating, deps);
  } catch (error) {
    const why = `failed calling webhook "${webhook.name}": ${messageOf(error)}`;
    if (webhook.failurePolicy !== 'Ignore') throw internalError(why);
    deps.log.warn('Webhook failed and is ignored', { webhook: webhook.name, error });
    return undefined;
  }
  for (const warning of verdict.warnings) request.warn(warning);
  if (!verdict.allowed) throw denial(webhook.name, verdict.status);
  return verdict;
}

async function ask(
  { compiled: { webhook }, version }: Candidate,
  request: AdmissionRequest,
  mutating: boolean,
  deps: WebhookAdmissionDeps,
): Promise<WebhookVerdict> {
  const uid = deps.newUid();
  const reviewVersion = webhook.admissionReviewVersions.find((each) => each === 'v1' || each === 'v1beta1') ?? 'v1';
  const { url, caBundle } = webhook.clientConfig;
  let answer: string;
  try {
    answer = await deps.client.call({
      url: url ?? refuseService(webhook.clientConfig.service),
      ...given({ caBundle }),
      timeoutSeconds: webhook.timeoutSeconds ?? 10,
      body: JSON.stringify(writeReview(inVersion(request, version), request, uid, reviewVersion)),
    });
  } catch (error) {
    throw new Error(`failed to call webhook: ${messageOf(error)}`, { cause: error });
  }
  try {
    return readReview(answer, uid, mutating);
  } catch (error) {
    const prefix = error instanceof SyntaxError ? 'failed to call webhook' : 'received invalid webhook response';
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}

/** This control plane has no cluster network, so a service never has endpoints. */
function refuseService(service: WebhookService | undefined): never {
  const host = `${service?.name}.${service?.namespace}.svc`;
  throw new Error(`Post "https://${host}:${service?.port ?? 443}${service?.path ?? ''}": service "${service?.name}" not found`);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
