import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import { PRIORITY_CLASSES_MAX } from '../../api/priority-class.ts';
import { RUNTIME_CLASSES_MAX } from '../../api/runtime-class.ts';

type Classes = readonly DeepReadonly<Pick<KubeObject, 'metadata'>>[];

/**
 * Names of PriorityClasses for the status of a WorkerCluster, without those of the system. Undefined: there are more than the status may
 * have.
 */
export const priorityClassNames = (classes: Classes): readonly string[] | undefined =>
  namesOf(classes, PRIORITY_CLASSES_MAX, (name) => !name.startsWith('system-'));

/** Names of RuntimeClasses for the status of a WorkerCluster. Undefined: there are more than the status may have. */
export const runtimeClassNames = (classes: Classes): readonly string[] | undefined => namesOf(classes, RUNTIME_CLASSES_MAX, () => true);

function namesOf(classes: Classes, most: number, isListed: (name: string) => boolean): readonly string[] | undefined {
  const names = classes.map(({ metadata }) => metadata.name).filter((name) => NAME.test(name) && isListed(name));
  return names.length > most ? undefined : names.toSorted();
}

/** A name that an API server accepts; a hostile one may return others. */
const NAME = /^[a-z0-9][-a-z0-9.]{0,252}$/;

/** Only the name is read. */
export const essentialsOfClass = ({ metadata: { name, uid, resourceVersion } }: KubeObject): KubeObject => ({
  metadata: { name, namespace: '', uid, resourceVersion, creationTimestamp: '' },
});
