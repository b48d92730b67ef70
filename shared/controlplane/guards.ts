import type { Clock } from '../runtime/clock.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import { createAdmissionChain } from './admission/admission-chain.ts';
import type { Admission, AdmissionRequest } from './admission/admission-request.ts';
import { POLICY_RESOURCES } from './admission/policy/policy-kinds.ts';
import { createPolicyAdmission } from './admission/policy/policies.ts';
import type { ParamObjects } from './admission/policy/params.ts';
import { createWebhookClient } from './admission/webhook/webhook-client.ts';
import { WEBHOOK_RESOURCES } from './admission/webhook/webhook-configuration.ts';
import type { Equivalent } from './admission/request-selection.ts';
import { type ClusterNetwork, createWebhookAdmission } from './admission/webhook/webhooks.ts';
import type { Authenticator } from './auth/authenticator.ts';
import { BOOTSTRAP_CLUSTER_ROLE_BINDINGS, BOOTSTRAP_CLUSTER_ROLES } from './auth/bootstrap-roles.ts';
import { preventEscalation } from './admission/escalation.ts';
import { createRbacAuthorizer, type RbacAuthorizer } from './auth/rbac-authorizer.ts';
import { RBAC_RESOURCES } from './auth/rbac-kinds.ts';
import { reviewResources } from './subresources/review-resources.ts';
import { createUnlessThere } from './bootstrap.ts';
import { newUid } from './apimachinery/identifiers.ts';
import { completed } from './endpoints/object-decoding.ts';
import { isJsonObject } from './apimachinery/json.ts';
import type { Registry } from './registry/registry.ts';
import { conformDecoded } from './schema/decode.ts';
import { type ServedResource, type ServedResources, toVersioned } from './resources/served-resources.ts';
import type { Store } from './storage/store.ts';
import type { AnyObject } from './apimachinery/object.ts';
import type { ResourceDefinition } from './resources/strategy.ts';
import type { Subresource } from './endpoints/subresource.ts';

/** The kinds by which writes are guarded: webhooks, policies and RBAC. */
export const GUARD_RESOURCES: readonly ResourceDefinition[] = [...WEBHOOK_RESOURCES, ...POLICY_RESOURCES, ...RBAC_RESOURCES];

/** What those kinds do, once they are stored. */
export interface Guards {
  readonly admission: Admission;
  readonly authorizer: RbacAuthorizer;
  readonly subresources: readonly Subresource[];
  /** Creates the default roles, where they are not there yet. */
  createDefaults(registry: Registry): Promise<void>;
  close(): Promise<void>;
}

export type GuardsDeps = {
  readonly store: Store;
  readonly resources: ServedResources;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly clusterNetwork?: ClusterNetwork;
};

export function createGuards({ store, resources, authenticator, clock, random, log, clusterNetwork }: GuardsDeps): Guards {
  const objectsOf = (table: string) => (): AnyObject[] =>
    store
      .table(table)
      .list('')
      .map(({ object }) => object);
  const authorizer = createRbacAuthorizer({
    roles: store.table('rbac.authorization.k8s.io/roles'),
    roleBindings: store.table('rbac.authorization.k8s.io/rolebindings'),
    clusterRoles: store.table('rbac.authorization.k8s.io/clusterroles'),
    clusterRoleBindings: store.table('rbac.authorization.k8s.io/clusterrolebindings'),
  });
  const client = createWebhookClient(clock);
  const webhooks = createWebhookAdmission({
    mutatingConfigurations: objectsOf('admissionregistration.k8s.io/mutatingwebhookconfigurations'),
    validatingConfigurations: objectsOf('admissionregistration.k8s.io/validatingwebhookconfigurations'),
    namespaceLabels: (name) => {
      const namespace = store.table('/namespaces').get('', name);
      return namespace === undefined ? undefined : (namespace.object.metadata.labels ?? {});
    },
    decode: (patched, { resource, kind }) => {
      const served = resources.find(resource.group, resource.version, resource.resource);
      if (served === undefined) throw new Error(`${resource.resource} are not served`);
      if (!isJsonObject(patched)) throw new Error('the patched object is not an object');
      // Bodies of subresources (Binding, Eviction, Scale) are used as they are.
      if (kind.kind !== served.definition.kind) return patched as AnyObject;
      conformDecoded(patched, served.schema, {});
      // The shape has just been established.
      return completed(served, { object: patched as AnyObject, warnings: [] }, () => undefined);
    },
    equivalents: (request) => equivalentsOf(resources, request),
    client,
    ...omitUndefined({ clusterNetwork }),
    authorizer,
    newUid: () => newUid(random),
    log,
  });
  const policies = createPolicyAdmission({
    policies: () => store.table('admissionregistration.k8s.io/validatingadmissionpolicies').list(''),
    bindings: () => store.table('admissionregistration.k8s.io/validatingadmissionpolicybindings').list(''),
    namespace: (name) => store.table('/namespaces').get('', name)?.object,
    params: (group, version, kind) => paramObjects(resources.ofKind(group, version, kind)),
    equivalents: (request) => equivalentsOf(resources, request),
    authorizer,
  });
  return {
    // Policies are asked before validating webhooks; escalation is judged on what the webhooks have made of the object.
    admission: createAdmissionChain([policies, webhooks, preventEscalation(authorizer)]),
    authorizer,
    subresources: reviewResources({ authorizer, authenticator }),
    createDefaults: (registry) => createDefaults(resources, registry),
    close: () => client.close(),
  };
}

const paramObjects = (served: ServedResource | undefined): ParamObjects | undefined =>
  served === undefined
    ? undefined
    : {
        namespaced: served.definition.namespaced,
        get: (namespace, name) => {
          const found = served.table.get(namespace, name);
          return found === undefined ? undefined : toVersioned(served, found.object);
        },
        list: (namespace) => served.table.list(namespace).map(({ object }) => toVersioned(served, object)),
      };

/** Resources that show the same objects: the versions of a custom resource, and both Events. */
function equivalentsOf(resources: ServedResources, { resource: of, kind, subresource }: AdmissionRequest): Equivalent[] {
  const asked = resources.find(of.group, of.version, of.resource);
  if (asked === undefined || (!asked.custom && of.resource !== 'events')) return [];
  const others = resources.all().filter((each) => each !== asked && each.table === asked.table && hasSubresource(each, subresource));
  return others.map((other) => {
    const { group, version, plural } = other.definition;
    // A Scale is the same everywhere.
    if (kind.kind !== asked.definition.kind) {
      return { resource: { group, version, resource: plural }, kind, fromRequest: (object) => object, toRequest: (object) => object };
    }
    return {
      resource: { group, version, resource: plural },
      kind: { group, version, kind: other.definition.kind },
      fromRequest: (object) => convert(object, asked, other),
      toRequest: (object) => convert(object, other, asked),
    };
  });
}

const hasSubresource = ({ definition: { strategy } }: ServedResource, subresource: string): boolean =>
  subresource === '' || (subresource === 'status' ? strategy.status !== undefined : strategy.hasScale === true);

/** From one view of an object to another. Versions of custom resources differ by their apiVersion alone. */
function convert(object: AnyObject, from: ServedResource, to: ServedResource): AnyObject {
  const { view: fromView } = from.definition;
  const { view: toView } = to.definition;
  const stored = fromView?.worksOn === 'stored' ? fromView.toStored(object) : object;
  const shown = toView?.worksOn === 'stored' ? toView.fromStored(stored) : stored;
  return { ...shown, kind: to.definition.kind, apiVersion: to.apiVersion };
}

async function createDefaults(resources: ServedResources, registry: Registry): Promise<void> {
  const of = (plural: string) => resources.find('rbac.authorization.k8s.io', 'v1', plural);
  const [roles, bindings] = [of('clusterroles'), of('clusterrolebindings')];
  if (roles === undefined || bindings === undefined) throw new Error('RBAC is not served');
  for (const role of BOOTSTRAP_CLUSTER_ROLES) await createUnlessThere(registry, roles, '', structuredClone(role));
  for (const binding of BOOTSTRAP_CLUSTER_ROLE_BINDINGS) await createUnlessThere(registry, bindings, '', structuredClone(binding));
}
