/** A dashboard as people mean it; grafana.ts makes Grafana's JSON of it. */
export type Dashboard = {
  /** Stays for good: links and bookmarks hold on to it. */
  readonly uid: `switchyard-${string}`;
  readonly title: string;
  /** What it is for, in a sentence. */
  readonly about: string;
  /** By what one may narrow it. */
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
};
/** `label` of `metric`, of which any may be chosen, and all are at first. In queries `$name`. */
export type Variable = { readonly name: string; readonly label: string; readonly metric: string };
export type Row = { readonly title: string; readonly panels: readonly Panel[] };
export type Panel = {
  readonly title: string;
  /** What it means, and from when on it is bad. */
  readonly about: string;
  readonly kind: 'stat' | 'timeseries';
  readonly unit: Unit;
  readonly queries: readonly Query[];
};
/** Grafana's names. */
export type Unit = 'short' | 's' | 'percentunit' | 'ops' | 'bytes' | 'bool_yes_no' | 'dateTimeFromNow' | 'cores';
/** `legend` is Grafana's: `{{cluster}}` is a label. */
export type Query = { readonly expr: string; readonly legend: string };

/**
 * The scrape jobs of the two programs: a metric that each of them has from the beginning, and only they have, or the Job controller that
 * they replace.
 */
export const MANAGER: Variable = { name: 'manager', label: 'job', metric: 'switchyard_manager_identity_shared' };
export const WORKER: Variable = { name: 'worker', label: 'job', metric: 'job_controller_job_syncs_total' };
export const CLUSTER: Variable = { name: 'cluster', label: 'cluster', metric: 'switchyard_cluster_ready' };
export const CLUSTER_QUEUE: Variable = { name: 'cluster_queue', label: 'cluster_queue', metric: 'switchyard_cluster_queue_nominal_quota' };
