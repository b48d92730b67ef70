import { CLUSTER_LABEL } from '../../../shared/api/names.ts';

/**
 * The merge patch of the label by which users list Jobs by cluster. A record sets it to its cluster, also while the Job is suspended and
 * its copy stays there; without a record the label is removed. Cluster names too long for a label value are omitted.
 */
export const clusterLabel = (cluster: string | undefined): Record<string, string | null> => ({
  [CLUSTER_LABEL]: cluster !== undefined && cluster.length <= LABEL_VALUE_LENGTH_MAX ? cluster : null,
});

/** WorkerCluster names are DNS subdomains of up to 253 characters, all of which label values allow. */
const LABEL_VALUE_LENGTH_MAX = 63;
