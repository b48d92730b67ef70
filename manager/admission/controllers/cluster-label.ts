import { CLUSTER_LABEL } from '../../../shared/api/names.ts';

/**
 * What a merge patch says of the label by which people list Jobs by cluster: wherever a record is written its cluster, also while the Job is
 * suspended and its copy rests there; without a record nothing. A name that no label may have for its value is left out.
 */
export const clusterLabel = (cluster: string | undefined): Record<string, string | null> => ({
  [CLUSTER_LABEL]: cluster !== undefined && cluster.length <= LABEL_VALUE_LENGTH_MAX ? cluster : null,
});

/** Names of WorkerClusters, DNS subdomains of up to 253 characters, consist of what label values consist of. */
const LABEL_VALUE_LENGTH_MAX = 63;
