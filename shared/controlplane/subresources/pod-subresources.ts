import { toWireTime } from '../../api/wire-time.ts';
import { type Answer, jsonAnswer } from '../request/answer.ts';
import type { Admission } from '../admission/admission-request.ts';
import type { Call } from '../request/call.ts';
import { type Binding, bindPod, checkBinding } from '../kinds/pod-binding.ts';
import { checkEviction, decideEviction } from '../kinds/pod-eviction.ts';
import { decodeObject } from '../schema/decode.ts';
import { builtInSchema } from '../schema/builtin.ts';
import { requireNamespace } from '../registry/registry.ts';
import { admissionRequest, type WriteRequest } from '../registry/write-request.ts';
import { headerOf } from '../request/request.ts';
import { preconditionRefusal } from '../registry/deletion.ts';
import { readWriteOptions } from '../registry/request-options.ts';
import { type HandlerDeps, writeRequest } from '../endpoints/resource-handlers.ts';
import type { ServedResource, ServedResources } from '../resources/served-resources.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Subresource } from '../endpoints/subresource.ts';

type Deps = HandlerDeps & { readonly resources: ServedResources; readonly admission: Admission; readonly pods: ServedResource };

/** `pods/x/binding`, the older `bindings`, and `pods/x/eviction`. */
export function podSubresources(deps: Deps): Subresource[] {
  const { pods } = deps;
  const core = { group: '', version: 'v1' };
  return [
    { ...core, resource: 'pods', subresource: 'binding', methods: { POST: (call) => bind(deps, call, pods, call.info.name) } },
    { ...core, resource: 'bindings', subresource: '', methods: { POST: (call) => bind(deps, call, pods, '') } },
    { ...core, resource: 'pods', subresource: 'eviction', methods: { POST: (call) => evict(deps, call, pods) } },
  ];
}

/** What a subresource answers when it has done its work. */
const DONE = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

/** `podName` is '' for the bindings resource, where the body alone names the pod. */
async function bind(deps: Deps, call: Call, pods: ServedResource, podName: string): Promise<Answer> {
  const options = readWriteOptions(call.info.query, 'CreateOptions');
  const binding = decodeAs(call, 'Binding', '', 'v1', options.fieldValidation);
  const name = podName === '' ? (binding.metadata.name ?? '') : podName;
  const request = { ...writeRequest(call, pods, options, 'CreateOptions'), name, subresource: 'binding' };
  const admitted = await askAdmission(deps, request, binding);
  // The body has been decoded by the schema of a Binding.
  const asked = admitted as unknown as Binding;
  checkBinding(name, asked);
  const { uid = '', resourceVersion = '' } = admitted.metadata as { readonly uid?: string; readonly resourceVersion?: string };
  const time = toWireTime(deps.clock.now());
  deps.registry.modify(request, { uid, resourceVersion }, ({ object }) => bindPod(object, asked, time));
  return jsonAnswer(201, DONE);
}

async function evict(deps: Deps, call: Call, pods: ServedResource): Promise<Answer> {
  const options = readWriteOptions(call.info.query, 'CreateOptions');
  const eviction = decodeAs(inServedVersion(call), 'Eviction', 'policy', 'v1', options.fieldValidation);
  const { name, namespace } = call.info;
  checkEviction(name, eviction);
  const dryRun = options.dryRun || evictionOptions(eviction).dryRun;
  const request = { ...writeRequest(call, pods, options, 'CreateOptions'), dryRun };
  // Who evicts nothing hears of it before anybody is asked.
  deps.registry.get(pods, namespace, name);
  const asked = evictionOptions(await askAdmission(deps, request, eviction));
  const pod = deps.registry.get(pods, namespace, name);
  const budgets = deps.resources.find('policy', 'v1', 'poddisruptionbudgets');
  const decision = decideEviction(
    pod.object,
    (budgets?.table.list(namespace) ?? []).map((stored: StoredObject) => stored.object),
    toWireTime(deps.clock.now()),
  );
  if (decision.kind === 'refuse') {
    return jsonAnswer(500, JSON.stringify({ ...JSON.parse(DONE), status: 'Failure', message: decision.message, code: 500 }));
  }
  if (decision.budget !== undefined && budgets !== undefined) {
    const { budget } = decision;
    deps.registry.modify({ ...request, resource: budgets, name: budget.metadata.name }, {}, () => ({
      ...budget,
      metadata: { ...budget.metadata },
    }));
  }
  const { stored } = deps.registry.modify(request, {}, ({ object }) => {
    const refusal = preconditionRefusal(pods, object.metadata, asked);
    if (refusal !== undefined) throw refusal;
    return decision.pod;
  });
  // The version that was asked for is the one before the condition was set.
  const isVersioned = asked.preconditions.resourceVersion !== undefined && !request.dryRun;
  const preconditions = isVersioned
    ? { ...asked.preconditions, resourceVersion: stored.object.metadata.resourceVersion }
    : asked.preconditions;
  await deps.registry.delete({ ...request, subresource: '' }, { ...asked, preconditions, dryRun: request.dryRun }, true);
  return jsonAnswer(201, DONE);
}

/** API servers still take the form of an Eviction that had the same fields in `policy/v1beta1`, which is served no more. */
const inServedVersion = (call: Call): Call => ({
  ...call,
  request: { ...call.request, body: call.request.body.replace(/("apiVersion"\s*:\s*)"policy\/v1beta1"/, '$1"policy/v1"') },
});

type EvictionOptions = Parameters<HandlerDeps['registry']['delete']>[1];

const evictionOptions = (eviction: AnyObject): EvictionOptions => {
  const options = (eviction['deleteOptions'] ?? {}) as Partial<Omit<EvictionOptions, 'dryRun'>> & { readonly dryRun?: readonly string[] };
  return {
    gracePeriodSeconds: options.gracePeriodSeconds,
    propagationPolicy: options.propagationPolicy,
    orphanDependents: options.orphanDependents,
    preconditions: options.preconditions ?? {},
    dryRun: options.dryRun?.includes('All') === true,
  };
};

/** Reads the body of a subresource that is a kind of its own, and that is in the namespace of the path. Throws 400. */
export function decodeAs(
  call: Call,
  kind: string,
  group: string,
  version: string,
  fieldValidation: 'Ignore' | 'Warn' | 'Strict',
): AnyObject {
  const schema = builtInSchema(group, version, kind);
  if (schema === undefined) throw new Error(`no schema for ${group}/${version} ${kind}`);
  const contentType = headerOf(call.request, 'content-type').split(';')[0]?.trim() ?? '';
  const decoded = decodeObject(call.request.body, contentType === '' ? 'application/json' : contentType, schema, fieldValidation);
  for (const warning of decoded.warnings) call.warn(warning);
  requireNamespace(call.info.namespace, decoded.object);
  return decoded.object;
}

/** Webhooks see a subresource as a create of its body. Returns the body as they have made it. */
export async function askAdmission({ admission }: { admission: Admission }, request: WriteRequest, body: AnyObject): Promise<AnyObject> {
  const question = {
    ...admissionRequest(request, 'CREATE', body, undefined),
    kind: groupVersionKind(body),
  };
  const mutating = admission.mutate(question);
  const object = (mutating === undefined ? undefined : await mutating) ?? body;
  const validating = admission.validate({ ...question, object });
  if (validating !== undefined) await validating;
  return object;
}

const groupVersionKind = ({ apiVersion = '', kind = '' }: AnyObject): { group: string; version: string; kind: string } => {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
};
