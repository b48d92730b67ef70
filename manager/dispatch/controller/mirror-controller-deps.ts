import type { ConfigMap, DeepReadonly, ObjectKey, WorkObject } from '../../../shared/api/kubernetes.ts';
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
import type { Tracing } from '../../work-kind/copy-options.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/** Keeps the endings of pods before their copy is deleted. */
export type CopyEndings = {
  /** Resolves soon, when the copy may be deleted; never rejects. */
  keep(ending: {
    /** The original of the copy. */
    readonly job: ObjectKey;
    readonly originUid: string;
    readonly cluster: string;
    readonly epoch: number;
    readonly copy: DeepReadonly<WorkObject>;
    /** Reads the log tails of the copy's pods; undefined where there are none. */
    readonly tails: () => Promise<ConfigMap | undefined>;
  }): Promise<void>;
};

/** The dependencies of the mirror controller. */
export type MirrorControllerDeps = {
  readonly kind: WorkKind;
  readonly home: ReadClient & WriteClient & StatusClient;
  readonly jobs: Informer<WorkObject>;
  readonly flavors: Informer<ResourceFlavor>;
  readonly clusters: ClusterRegistry;
  readonly readRecord: RecordReader;
  /** Why an admission in this namespace is no longer valid; undefined while it is. */
  readonly resolve: (record: AdmissionRecord, namespace: string) => string | undefined;
  /** What the loss of the recorded cluster means for a Job; undefined while the cluster is not lost. */
  readonly judgeLoss: (cluster: string, record: AdmissionRecord, job: DeepReadonly<WorkObject>) => MirrorGroup['loss'];
  /** Why no copy of a Job that is older than this process may be started now; undefined while copies may be started. */
  readonly homeRestored: () => DispatchProblem | undefined;
  /** Id of this manager. */
  readonly origin: string;
  readonly tracing?: Tracing;
  /** Image of the sidecar of pod fences. */
  readonly podFenceImage: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: DispatchMetrics;
  /** Whether the submission of this Job is stored durably. */
  readonly isNoted: (job: DeepReadonly<WorkObject>) => boolean;
  /** Absent: endings are not kept. */
  readonly endings?: CopyEndings;
};
