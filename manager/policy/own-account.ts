import { MANAGER_CONTROLLER_NAME, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { isManagedBy, labelledWith, specHas } from './cel-variables.ts';
import type { WriteRule } from './write-rule.ts';

/**
 * What the manager's account may do to Jobs of its own cluster, whatever field manager it names. RBAC grants Jobs by kind, and cannot tell the Jobs that
 * the manager admits from others; the rules of the table (job-parts.ts) do not bind the manager. These rules limit what a copied token is good for. They
 * are rules of API servers alone: the webhook is not asked about writes of the manager.
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
    field: 'spec.managedBy',
    problem: `is not ${MANAGER_CONTROLLER_NAME}, and the Job is no copy: the manager neither changes nor deletes it`,
    brokenWhen: `oldObject != null && !(${isManaged('oldObject')} || ${labelledWith('oldObject', ORIGIN_LABEL)})`,
  },
  {
    field: 'spec.template',
    problem: 'is the user’s, and the manager leaves it as it is',
    // Of a deleted Job there is only the old object.
    brokenWhen: `oldObject != null && object != null && ${isManaged('oldObject')} && object.spec.template != oldObject.spec.template`,
  },
];

function isManaged(job: string): string {
  return isManagedBy(job, MANAGER_CONTROLLER_NAME);
}

/** Copies are made here by a manager whose own cluster is a worker cluster, too, and by managers of other clusters, which follow the own one in the list. */
function mayMakeCopies(): string {
  return '(size(variables.localWorkers) > 0 || variables.username != variables.managers[0])';
}
