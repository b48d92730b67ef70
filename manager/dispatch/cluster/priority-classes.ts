import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { PRIORITY_CLASSES_MAX, type PriorityClass } from '../../api/priority-class.ts';

/**
 * Names of PriorityClasses for the status of a WorkerCluster, without those of the system. Undefined: there are more than the status may
 * have.
 */
export function namesOfClasses(classes: readonly DeepReadonly<PriorityClass>[]): readonly string[] | undefined {
  const names = classes.map(({ metadata }) => metadata.name).filter((name) => NAME.test(name) && !name.startsWith('system-'));
  return names.length > PRIORITY_CLASSES_MAX ? undefined : names.toSorted();
}

/** A name that an API server accepts; a hostile one may return others. */
const NAME = /^[a-z0-9][-a-z0-9.]{0,252}$/;

/** Only the name is read. */
export const essentialsOfPriorityClass = ({ metadata: { name, uid, resourceVersion } }: PriorityClass): PriorityClass => ({
  metadata: { name, namespace: '', uid, resourceVersion, creationTimestamp: '' },
  value: 0,
});
