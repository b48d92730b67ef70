import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';

/** The cluster refused the write. The Job reports the problem. */
export class DispatchRefused extends Error {
  override readonly name = 'DispatchRefused';
  readonly problem: DispatchProblem;

  constructor(problem: DispatchProblem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

/** The server has said whether the write was carried out. After a 5xx or a timeout the write may have been carried out. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof DispatchRefused || (error instanceof ApiError && error.code < 500 && error.code !== 408);

/** An answer that stays the same on retry is a refusal; a failure of the cluster is not. */
export function problemOf(cluster: string, error: unknown): DispatchProblem | undefined {
  if (error instanceof DispatchRefused) return error.problem;
  if (!(error instanceof ApiError) || error.code < 400 || error.code >= 500 || [401, 408, 409, 429].includes(error.code)) return undefined;
  const said = sanitizeText(error.message);
  if (error.code === 400 && said.includes('strict decoding error')) {
    const message = `cluster "${cluster}" does not know fields of the Job; leave them out, or bring that cluster to a version that has them: ${said}`;
    return { reason: DispatchedReason.FieldsUnknown, message };
  }
  return { reason: DispatchedReason.Refused, message: `cluster "${cluster}" refused the Job: ${said}` };
}

export const jobOfOther = (cluster: string): DispatchProblem => ({
  reason: DispatchedReason.NameTaken,
  message: `cluster "${cluster}" has a Job of this name that is not ours; rename one of the two, or delete that Job`,
});

/** Another manager may run there and take the copy for its own: only a user can resolve this. */
export const copyOfOther = (cluster: string, other: string, origin: string): DispatchProblem => ({
  reason: DispatchedReason.NameTaken,
  message:
    `the copy of this Job on cluster "${cluster}" says that manager "${sanitizeText(other)}" made it, and this manager is "${origin}": delete that Job there, ` +
    `or, where no manager of that id is and its label ${ORIGIN_LABEL} was changed, give it the value "${origin}"`,
});

export const namespaceMissing = (cluster: string, namespace: string): DispatchProblem => ({
  reason: DispatchedReason.NamespaceMissing,
  message: `namespace "${namespace}" does not exist on cluster "${cluster}"; create it there, or set namespaces: Create in the WorkerCluster`,
});

export const podsUnseen = (cluster: string, namespace: string): DispatchProblem => ({
  reason: DispatchedReason.PodsRemain,
  message:
    `the copy on cluster "${cluster}" is gone, and whether pods of it are still there cannot be seen: let the manager list pods in namespace ` +
    `"${namespace}" there (chart switchyard-worker, managerAccess)`,
});
