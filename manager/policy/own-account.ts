import { MANAGER_CONTROLLER_NAME, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { isManagedBy, labelledWith, specHas } from './cel-variables.ts';
import type { WriteRule } from './write-rule.ts';

/**
 * Rules for the manager's own account on Jobs of its own cluster, whatever field manager it names. RBAC grants Jobs by kind, and cannot
 * tell Jobs of the manager from others; the rules of the table (job-parts.ts) do not bind the manager. These rules bound the damage of a
 * stolen token. Only API servers enforce them: the webhook is not called for writes of the manager.
 */
export const OWN_ACCOUNT_RULES: readonly Pick<WriteRule, 'field' | 'problem' | 'brokenWhen'>[] = [
  {
    field: 'spec.managedBy',
    problem: `must be ${MANAGER_CONTROLLER_NAME}, and spec.suspend true, in a Job that the manager creates on its own cluster`,
    brokenWhen: `oldObject == null && !(${isManaged('object')} && ${specHas('object', 'suspend')} && object.spec.suspend || ${mayMakeCopies()} && ${labelledWith('object', ORIGIN_LABEL)})`,
  },
  {
    field: 'metadata.namespace',
    problem: 'belongs to Kubernetes itself, and the manager creates no Jobs there',
    brokenWhen: "oldObject == null && request.namespace.startsWith('kube-')",
  },
  {
    field: 'spec.template.spec.serviceAccountName',
    problem:
      'must be default, or absent, in a Job that the manager creates in its own namespace: the accounts there have rights of their own',
    brokenWhen: `oldObject == null && ${isInOwnNamespace()} && has(object.spec.template.spec.serviceAccountName) && object.spec.template.spec.serviceAccountName != 'default'`,
  },
  {
    field: 'spec.managedBy',
    problem: `is not ${MANAGER_CONTROLLER_NAME}, and the Job is no copy: the manager neither changes nor deletes it`,
    brokenWhen: `oldObject != null && !(${isManaged('oldObject')} || ${labelledWith('oldObject', ORIGIN_LABEL)})`,
  },
  {
    field: 'spec.template',
    problem: 'is the user’s, and the manager leaves it as it is',
    // A deletion has the old object only.
    brokenWhen: `oldObject != null && object != null && ${isManaged('oldObject')} && object.spec.template != oldObject.spec.template`,
  },
];

function isManaged(job: string): string {
  return isManagedBy(job, MANAGER_CONTROLLER_NAME);
}

/** The user name of a ServiceAccount contains its namespace. */
function isInOwnNamespace(): string {
  return "variables.managers[0].startsWith('system:serviceaccount:' + request.namespace + ':')";
}

/**
 * Copies are created on this cluster by a manager whose own cluster is a worker cluster, too, and by managers of other clusters, which come
 * after the own account in the list.
 */
function mayMakeCopies(): string {
  return '(size(variables.localWorkers) > 0 || variables.username != variables.managers[0])';
}
