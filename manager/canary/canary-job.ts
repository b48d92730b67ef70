import { createHash } from 'node:crypto';
import { CANARY_LABEL, CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { Job, Unsaved } from '../../shared/api/kubernetes.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** The options of all canaries. */
export type CanaryOptions = {
  readonly namespace: string;
  /** A LocalQueue of that namespace. */
  readonly queue: string;
  /** An image with a program `true`. */
  readonly image: string;
  /** Time to live after its end, where no manager deletes it. */
  readonly ttlSeconds: number;
};

/** The name of a cluster's canary, of which there is at most one at a time. Names of clusters may be longer than those of Jobs. */
export function canaryName(cluster: string): string {
  const name = `${PREFIX}${cluster}`;
  if (name.length <= NAME_MAX && !cluster.includes('.')) return name;
  const digest = createHash('sha256').update(cluster).digest('hex').slice(0, 10);
  return `${PREFIX}${cluster.replaceAll('.', '-').slice(0, NAME_MAX - PREFIX.length - digest.length - 1)}-${digest}`;
}
const PREFIX = 'switchyard-canary-';
const NAME_MAX = 63;

/** Whether it has the label and a name of a canary. */
export const isCanary = ({ name, labels = {} }: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }): boolean =>
  isCanaryName(name) && labels[CANARY_LABEL] === 'true';
export const isCanaryName = (name: string): boolean => name.startsWith(PREFIX);

/**
 * A Job that does nothing, on this cluster alone. It requests no resources, so that a queue admits it whatever its quota and use, and has
 * no rights that pods of users lack.
 */
export const canaryJob = (
  kind: WorkKind,
  cluster: string,
  name: string,
  { namespace, queue, image, ttlSeconds }: CanaryOptions,
): Unsaved<Job> =>
  kind.prepared({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace,
      labels: { [QUEUE_NAME_LABEL]: queue, [CANARY_LABEL]: 'true' },
      annotations: { [CLUSTERS_ANNOTATION]: cluster },
    },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: ttlSeconds,
      template: {
        metadata: { labels: { [CANARY_LABEL]: 'true' } },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 5,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'canary',
              image,
              command: ['true'],
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  });
