import type { ConfigMap, DeepReadonly, Job, ObjectKey } from '../../../shared/api/kubernetes.ts';
import type { ReadClient, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import type { EventRecorder } from '../../../shared/kube/event-recorder.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { MirrorGroup } from '../mirror/mirror-group.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';
import type { ClusterRegistry } from '../connection/cluster-registry.ts';
import type { AdmissionRecord, RecordReader } from '../../api/records.ts';
import type { Tracing } from '../copy/remote-job.ts';

/** What becomes of pods is kept by somebody else, before their copy goes. */
export type CopyEndings = {
  /** Resolves when the copy may go, soon; never rejects. */
  keep(ending: {
    /** The Job that it is a copy of. */
    readonly job: ObjectKey;
    readonly originUid: string;
    readonly cluster: string;
    readonly epoch: number;
    readonly copy: DeepReadonly<Job>;
    /** The ends of its logs; undefined where there are none. */
    readonly tails: () => Promise<ConfigMap | undefined>;
  }): Promise<void>;
};

/** What the mirror controller works with. */
export type MirrorControllerDeps = {
  readonly home: ReadClient & WriteClient & StatusClient;
  readonly jobs: Informer<Job>;
  readonly flavors: Informer<ResourceFlavor>;
  readonly clusters: ClusterRegistry;
  readonly readRecord: RecordReader;
  /** Why an admission in this namespace no longer stands; undefined while it does. */
  readonly resolve: (record: AdmissionRecord, namespace: string) => string | undefined;
  /** What follows for a Job recorded by this name from the loss of that cluster; undefined while it is not lost. */
  readonly judgeLoss: (cluster: string, record: AdmissionRecord, job: DeepReadonly<Job>) => MirrorGroup['loss'];
  /** Why nothing may be set going now; undefined while it may. */
  readonly homeRestored: () => DispatchProblem | undefined;
  /** Id of this manager. */
  readonly origin: string;
  readonly tracing?: Tracing;
  /** Of the sidecar of pod fences. */
  readonly podFenceImage: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: DispatchMetrics;
  /** Whether it is noted for good that this Job was made of a submission. */
  readonly isNoted: (job: DeepReadonly<Job>) => boolean;
  /** Absent: nothing is kept. */
  readonly endings?: CopyEndings;
};
