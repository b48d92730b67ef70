import type { LabelSelector } from '../../../api/kubernetes.ts';
import { type LabelRequirements, requirementsOf } from '../../../kube/selectors.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { cloneJson, jsonEquals } from '../../apimachinery/json.ts';
import { forbidden, internalError, StatusError } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import type { Admission, AdmissionRequest, Reinvocation } from '../admission-request.ts';
import { coverageOf, type Equivalent, inVersion, namespaceSelected, objectSelected } from '../request-selection.ts';
import { compileMatchConditions, type CompiledMatchConditions, type MatchCondition } from './match-conditions.ts';
import { denial, readReview, UnreadableReview, type WebhookVerdict, writeReview } from './webhook-review.ts';
import { isExemptFromWebhooks, type WebhookRule } from './webhook-rules.ts';
import type { WebhookClient } from './webhook-client.ts';
import { applyReviewPatch, readReviewPatch } from './webhook-patch.ts';

export type WebhookAdmissionDeps = {
  /** The stored MutatingWebhookConfigurations and ValidatingWebhookConfigurations, in the order of their names. */
  readonly mutatingConfigurations: () => Iterable<AnyObject>;
  readonly validatingConfigurations: () => Iterable<AnyObject>;
  /** Labels of a namespace; undefined when it does not exist. */
  readonly namespaceLabels: (name: string) => Readonly<Record<string, string>> | undefined;
  /**
   * Decodes and defaults an object that a webhook has patched, as the resource and kind of the request that the webhook saw. Throws for
   * what is not an object of that kind.
   */
  readonly decode: (patched: unknown, request: AdmissionRequest) => AnyObject;
  /** The same resource in its other served versions, or under another group. */
  readonly equivalents: (request: AdmissionRequest) => readonly Equivalent[];
  readonly client: WebhookClient;
  readonly clusterNetwork?: ClusterNetwork;
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
  const coverage = coverageOf(rules, matchPolicy, request, deps.equivalents);
  return coverage === undefined ? undefined : { compiled, version: coverage.version };
}

const webhooksIn = (configuration: AnyObject): Webhook[] => (Array.isArray(configuration['webhooks']) ? configuration['webhooks'] : []);

const compileWebhook = (webhook: Webhook): CompiledWebhook => ({
  webhook,
  namespaces: requirementsOf(webhook.namespaceSelector ?? {}),
  objects: requirementsOf(webhook.objectSelector ?? {}),
  conditions: compileMatchConditions(webhook.matchConditions ?? [], webhook.failurePolicy ?? 'Fail'),
});

/** What webhooks remember of the first round for the second (webhookReinvokeContext). */
type Past = {
  /** Those that have been called, want to be called again, and have seen no change since. */
  eligible: Set<CompiledWebhook>;
  readonly again: Set<CompiledWebhook>;
  output: AnyObject | undefined;
};

function pastOf(reinvocation: Reinvocation): Past {
  const past = (reinvocation.webhooks ??= { eligible: new Set(), again: new Set(), output: undefined } satisfies Past);
  // Nobody else writes there.
  return past as Past;
}

function callAgain(past: Past): void {
  for (const each of past.eligible) past.again.add(each);
  past.eligible = new Set();
}

/**
 * One after the other, in the order of the configurations' names. When a webhook changes the object, or in the second round a plugin of
 * the server did, the earlier ones that ask for it (`reinvocationPolicy: IfNeeded`) get one more look.
 */
async function mutateWith(
  webhooks: readonly Candidate[],
  request: AdmissionRequest,
  deps: WebhookAdmissionDeps,
): Promise<AnyObject | undefined> {
  const { reinvocation = { isReinvoke: false, shouldReinvoke: false } } = request;
  const past = pastOf(reinvocation);
  if (reinvocation.isReinvoke && !jsonEquals(past.output, request.object)) callAgain(past);
  let { object } = request;
  for (const each of webhooks) {
    const { compiled } = each;
    const current = { ...request, object };
    if (!shouldCall(each, current, deps)) continue;
    if (reinvocation.isReinvoke && !past.again.has(compiled)) continue;
    const { patched, changed } = await callMutating(each, current, deps);
    object = patched;
    if (changed) {
      callAgain(past);
      reinvocation.shouldReinvoke = true;
    }
    if (compiled.webhook.reinvocationPolicy === 'IfNeeded') past.eligible.add(compiled);
  }
  // Other plugins change objects in hand.
  if (reinvocation.shouldReinvoke) past.output = cloneJson(object);
  return object;
}

type Mutation = { readonly patched: AnyObject | undefined; readonly changed: boolean };

async function callMutating(candidate: Candidate, request: AdmissionRequest, deps: WebhookAdmissionDeps): Promise<Mutation> {
  const operations = await review(candidate, request, true, deps, ({ patch }) => (patch === undefined ? [] : readReviewPatch(patch)));
  const unchanged = { patched: request.object, changed: false };
  if (operations === undefined || operations.length === 0) return unchanged;
  const { compiled, version } = candidate;
  const seen = inVersion(request, version);
  const patched = applyReviewPatch(compiled.webhook.name, operations, seen.object);
  try {
    const decoded = deps.decode(cloneJson(patched), seen);
    // Upstream compares what a webhook has seen with what was decoded anew, which differ even where a patch writes the value that was
    // there.
    return { patched: version === undefined ? decoded : version.toRequest(decoded), changed: true };
  } catch (error) {
    throw internalError(messageOf(error));
  }
}

/** All at once; the first refusal in the order of the configurations is the answer. */
async function validateWith(webhooks: readonly Candidate[], request: AdmissionRequest, deps: WebhookAdmissionDeps): Promise<void> {
  const called = webhooks.filter((each) => shouldCall(each, request, deps));
  const outcomes = await Promise.allSettled(called.map((each) => review(each, request, false, deps, () => undefined)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Selectors and match conditions; the rules have been looked at before. */
function shouldCall({ compiled: each, version }: Candidate, request: AdmissionRequest, deps: WebhookAdmissionDeps): boolean {
  if (!namespaceSelected(each.namespaces, request, deps.namespaceLabels) || !objectSelected(each.objects, request)) return false;
  const outcome = each.conditions.evaluate(inVersion(request, version), request, deps.authorizer);
  if (outcome.error !== undefined) throw forbidden(request.resource, request.name, outcome.error);
  return outcome.matches;
}

/**
 * What `read` takes from the verdict of one webhook; undefined when the webhook failed and failures are to be ignored. Throws a
 * StatusError for a refusal.
 */
async function review<T>(
  candidate: Candidate,
  request: AdmissionRequest,
  mutating: boolean,
  deps: WebhookAdmissionDeps,
  read: (verdict: WebhookVerdict) => T,
): Promise<T | undefined> {
  const { webhook } = candidate.compiled;
  try {
    const verdict = await ask(candidate, request, mutating, deps);
    for (const warning of verdict.warnings) request.warn(warning);
    if (!verdict.allowed) throw denial(webhook.name, verdict.status);
    return read(verdict);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    const why = `failed calling webhook "${webhook.name}": ${messageOf(error)}`;
    if (webhook.failurePolicy !== 'Ignore') throw internalError(why);
    deps.log.warn('Webhook failed and is ignored', { webhook: webhook.name, error });
    return undefined;
  }
}

async function ask(
  { compiled: { webhook }, version }: Candidate,
  request: AdmissionRequest,
  mutating: boolean,
  deps: WebhookAdmissionDeps,
): Promise<WebhookVerdict> {
  const uid = deps.newUid();
  const reviewVersion = webhook.admissionReviewVersions.find((each) => each === 'v1' || each === 'v1beta1');
  if (reviewVersion === undefined) {
    throw new Error('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  }
  const { url, service, caBundle } = webhook.clientConfig;
  let answer: string;
  try {
    answer = await deps.client.call({
      ...(url === undefined ? ofService(service, deps.clusterNetwork) : { url }),
      ...omitUndefined({ caBundle }),
      timeoutSeconds: webhook.timeoutSeconds ?? 10,
      body: JSON.stringify(writeReview(inVersion(request, version), request, uid, reviewVersion)),
    });
  } catch (error) {
    throw new Error(`failed to call webhook: ${messageOf(error)}`, { cause: error });
  }
  try {
    return readReview(answer, uid, mutating, reviewVersion);
  } catch (error) {
    const prefix = error instanceof UnreadableReview ? 'failed to call webhook' : 'received invalid webhook response';
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}

/** Where whoever serves the port of a Service listens (`host:port`); undefined: nobody does. */
export type ClusterNetwork = (service: { readonly namespace: string; readonly name: string; readonly port: number }) => string | undefined;

/** Without a cluster network a service never has endpoints. */
function ofService(
  service: WebhookService | undefined,
  network: ClusterNetwork | undefined,
): { readonly url: string; readonly connectTo: string } {
  const { name = '', namespace = '', port = 443, path = '' } = service ?? {};
  const url = `https://${name}.${namespace}.svc:${port}${path}`;
  const connectTo = network?.({ namespace, name, port });
  if (connectTo === undefined) throw new Error(`Post "${url}": service "${name}" not found`);
  return { url, connectTo };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
