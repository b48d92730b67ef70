/**
 * Something to know about an object that was read.
 *
 * - `Lost`: it asked for something that Switchyard does not do.
 * - `Skipped`: nothing is made of it.
 * - `Note`: it does the same, and there is something to do or to know.
 */
export type Finding = {
  readonly kind: 'Lost' | 'Skipped' | 'Note';
  /** `ClusterQueue team-a`. */
  readonly object: string;
  /** `spec.preemption`; absent: about the object as a whole. */
  readonly field?: string;
  readonly says: string;
};

const WORDS = { Lost: 'lost', Skipped: 'skipped', Note: 'note' } as const;

/** What holds of every installation, whatever was read. */
const GENERAL: readonly string[] = [
  'Jobs name their LocalQueue by the label switchyard.dev/queue-name. Kueue’s label kueue.x-k8s.io/queue-name is taken where the manager runs with --kueue-queue-label (chart: config.kueueQueueLabel), which is off by default.',
  'Jobs name a WorkloadPriorityClass by the label switchyard.dev/priority-class, not kueue.x-k8s.io/priority-class.',
  'A Job runs on a WorkerCluster; make one for each cluster. A ResourceFlavor is offered by all of them, unless its spec.clusterSelector chooses some by their labels.',
  'A Job whose pods are not ready within spec.startTimeout of its ClusterQueue (10m by default) goes to another cluster; 0s lets it wait for ever, as Kueue does by default.',
];

/** The findings as text, one a line, and what holds of all. */
export function report(objects: number, findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ kind, object, field, says }) => `${WORDS[kind]}: ${object}${field === undefined ? '' : `: ${field}`}: ${says}`,
  );
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length;
  const summary = `${objects} objects written; ${count('Lost')} lost, ${count('Skipped')} skipped, ${count('Note')} notes`;
  return `${[...lines, summary, ...(objects === 0 ? [] : GENERAL.map((line) => `note: ${line}`))].join('\n')}\n`;
}
