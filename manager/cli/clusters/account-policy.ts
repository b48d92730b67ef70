import { BUILT_IN_JOB_CONTROLLER_NAME, JOB_UID_VARIABLE, ORIGIN_LABEL, ORIGIN_UID_ANNOTATION } from '../../../shared/api/names.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { Granted } from './access-rights.ts';

const ADMISSION = 'admissionregistration.k8s.io';
const admission = (kind: string, plural: string): Resource => ({ group: ADMISSION, version: 'v1', plural, kind, namespaced: false });
export const ADMISSION_POLICIES = admission('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const ADMISSION_POLICY_BINDINGS = admission('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');

export type PolicyWish = {
  /** Where the account of the manager is. */
  readonly namespace: string;
  /** Of the account, and of the objects. */
  readonly name: string;
  /** `spec.managedBy` of copies. */
  readonly jobController: string;
  /** Of the worker there; `kube-*` is denied in any case. */
  readonly deniedNamespaces: readonly string[];
  /** Resources of kinds beside Job whose copies the account may write, such as `jobsets.jobset.x-k8s.io`. */
  readonly kinds: readonly string[];
};

/**
 * What holds the manager's account on a worker cluster to copies and to its Leases, as the chart switchyard-worker does
 * (templates/account-policies.yaml): RBAC grants by kind and namespace only. In the order in which they are made.
 */
export function accountPolicy({ namespace, name, ...wish }: PolicyWish): Granted[] {
  const objects = [
    { resource: ADMISSION_POLICIES, spec: specOf(`system:serviceaccount:${namespace}:${name}`, wish) },
    { resource: ADMISSION_POLICY_BINDINGS, spec: { policyName: name, validationActions: ['Deny'] } },
  ];
  return objects.map(({ resource, spec }) => {
    const object = { apiVersion: `${ADMISSION}/v1`, kind: resource.kind, metadata: { name }, spec };
    return { resource, object };
  });
}

type CopyRules = Pick<PolicyWish, 'jobController' | 'deniedNamespaces' | 'kinds'>;

function specOf(username: string, { jobController: controller, deniedNamespaces, kinds }: CopyRules) {
  // In place of the built-in controller a worker runs the Jobs of all namespaces.
  const denied = controller === BUILT_IN_JOB_CONTROLLER_NAME ? '' : inDenied(deniedNamespaces);
  const has = (object: string): string => `has(${object}.metadata.labels) && '${ORIGIN_LABEL}' in ${object}.metadata.labels`;
  const managed = (object: string): string =>
    controller === BUILT_IN_JOB_CONTROLLER_NAME
      ? `(!has(${object}.spec.managedBy) || ${object}.spec.managedBy == '${controller}')`
      : `has(${object}.spec.managedBy) && ${object}.spec.managedBy == '${controller}'`;
  const annotated = `has(oldObject.metadata.annotations) && '${ORIGIN_UID_ANNOTATION}' in oldObject.metadata.annotations`;
  // Objects of other kinds have no pod template in that place, which an API server that checks types would not accept.
  const job = kinds.length === 0 ? 'oldObject' : "variables.resource == 'jobs' && dyn(oldObject)";
  const isNoWork = kinds.length === 0 ? "variables.resource != 'jobs'" : "variables.resource in ['leases', 'configmaps', 'secrets']";
  const inTemplate = `${job}.spec.template.spec.containers.exists(c, has(c.env) && c.env.exists(e, e.name == '${JOB_UID_VARIABLE}'))`;
  return {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        rule('batch', ['jobs', 'jobs/status']),
        rule('coordination.k8s.io', ['leases']),
        rule('', ['configmaps', 'secrets']),
        ...kinds.map(ruleOfKind),
      ],
    },
    matchConditions: [{ name: 'by-the-manager', expression: `request.userInfo.username == '${username}'` }],
    variables: [
      { name: 'resource', expression: kinds.length === 0 ? 'request.resource.resource' : WITH_GROUP },
      { name: 'wasCopy', expression: `oldObject != null && (${has('oldObject')} || ${annotated} || ${inTemplate})` },
    ],
    validations: [
      {
        expression: `variables.resource != 'jobs' || request.operation != 'CREATE' || ${has('object')} && ${managed('object')}`,
        message: `metadata.labels[${ORIGIN_LABEL}]: must be there, and spec.managedBy be ${controller}: the manager creates copies alone`,
        reason: 'Invalid',
      },
      ...(kinds.length === 0
        ? []
        : [
            {
              expression: `${isNoWork} || variables.resource == 'jobs' || request.operation != 'CREATE' || ${has('object')}`,
              message: `metadata.labels[${ORIGIN_LABEL}]: must be there: the manager creates copies alone`,
              reason: 'Invalid',
            },
          ]),
      {
        expression: `${isNoWork} || request.operation != 'CREATE' || !request.namespace.startsWith('kube-')`,
        message: 'metadata.namespace: belongs to Kubernetes itself, and the manager creates no Jobs there',
        reason: 'Invalid',
      },
      ...(denied === ''
        ? []
        : [
            {
              expression: `${isNoWork} || request.operation != 'CREATE' || !(${denied})`,
              message:
                'metadata.namespace: is denied by --denied-namespaces of the worker (config.deniedNamespaces of its chart), and the manager creates no Jobs there',
              reason: 'Invalid',
            },
          ]),
      {
        expression: `${isNoWork} || request.operation == 'CREATE' || variables.wasCopy`,
        message: `metadata.labels[${ORIGIN_LABEL}]: is not there, and the manager neither changes nor deletes what is no copy`,
        reason: 'Invalid',
      },
      {
        expression: `variables.resource != 'leases' || (object != null ? (has(object.metadata.name) ? object.metadata.name : '') : oldObject.metadata.name).startsWith('switchyard-origin-')`,
        message: 'metadata.name: is not that of a Lease of a manager',
        reason: 'Invalid',
      },
      {
        expression: `!(variables.resource in ['configmaps', 'secrets']) || ${has('object')} && has(object.immutable) && object.immutable && (oldObject == null || ${has('oldObject')} && has(oldObject.immutable) && oldObject.immutable)`,
        message: `metadata.labels[${ORIGIN_LABEL}]: must be there, and immutable be true: the manager writes no ConfigMaps and Secrets but those that copies bring along`,
        reason: 'Invalid',
      },
    ],
  };
}

/** A kind of another group may be called as one of Kubernetes' own is: Job. */
const WITH_GROUP =
  "request.resource.group in ['', 'batch', 'coordination.k8s.io'] ? request.resource.resource : request.resource.resource + '.' + request.resource.group";

const rule = (group: string, resources: readonly string[], version = 'v1') => ({
  apiGroups: [group],
  apiVersions: [version],
  resources,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  scope: 'Namespaced',
});

/** A resource with its group, as CustomResourceDefinitions are named. */
function ruleOfKind(name: string) {
  const [resource = '', ...group] = name.split('.');
  return rule(group.join('.'), [resource, `${resource}/status`], '*');
}

/** Whether the namespace of a request is among the denied ones but for `kube-*`, as CEL; empty: there are no others. */
function inDenied(entries: readonly string[]): string {
  const others = entries.filter((entry) => entry !== 'kube-*');
  const names = others.filter((entry) => !entry.endsWith('*'));
  const prefixes = others.filter((entry) => entry.endsWith('*')).map((entry) => JSON.stringify(entry.slice(0, -1)));
  return [
    ...(names.length === 0 ? [] : [`request.namespace in ${JSON.stringify(names)}`]),
    ...prefixes.map((prefix) => `request.namespace.startsWith(${prefix})`),
  ].join(' || ');
}
