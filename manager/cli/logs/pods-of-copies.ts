import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { JOB_NAME_LABEL } from '../../../shared/api/names.ts';
import { copyName } from '../../work-kind/copy-marks.ts';
import { parseQualifiedName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * The label selector of the pods of an object's copies, by either name that a copy may have. Undefined where the description of its kind
 * does not say it, or not yet.
 */
export function podsOfCopies(kind: WorkKind<Job>, job: DeepReadonly<Job>): string | undefined {
  const { name } = job.metadata;
  const names = [name, copyName(job, true)].map((each) => parseQualifiedName(each).name);
  const own = kind.of(name);
  if (own === kind.of(undefined)) return `${JOB_NAME_LABEL} in (${names.join(',')})`;
  const [first, second] = names.map((each) => own.podSelector({ ...job, metadata: { ...job.metadata, name: each } })?.split(','));
  return first?.map((label, place) => either(label, second?.[place])).join(',');
}

/** `a=x` and `a=y` as one requirement. */
function either(label: string, other: string | undefined): string {
  if (other === undefined || other === label) return label;
  const [name, value] = label.split('=');
  return `${name} in (${value},${other.slice(other.indexOf('=') + 1)})`;
}
