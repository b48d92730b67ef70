import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { PRIORITY_CLASSES_MAX, type PriorityClass } from '../../api/priority-class.ts';

/** What a WorkerCluster tells of the PriorityClasses there: their names, those of the system excepted. Undefined: there are more than it can tell of. */
export function namesOfClasses(classes: readonly DeepReadonly<PriorityClass>[]): readonly string[] | undefined {
  const names = classes.map(({ metadata }) => metadata.name).filter((name) => NAME.test(name) && !name.startsWith('system-'));
  return names.length > PRIORITY_CLASSES_MAX ? undefined : names.toSorted();
}

/** A name as an API server takes it; a hostile one may tell of others. */
const NAME = /^[a-z0-9][-a-z0-9.]{0,252}$/;

/** The name is all that counts. */
export const essentialsOfPriorityClass = ({ metadata: { name, uid, resourceVersion } }: PriorityClass): PriorityClass => ({
  metadata: { name, namespace: '', uid, resourceVersion, creationTimestamp: '' },
  value: 0,
});
