import type { SlicedPass } from '../cache/sliced-pass.ts';
import type { Workload } from '../workload/workload.ts';

/** Shapes or namespaces that are distinguished at most. */
const ALIKE_MAX = 1_000;

/** Changes that concern the pending Workloads of a shape or namespace. However many arrive, one visit serves all. */
export class PendingChanges {
  readonly #visits: SlicedPass<Workload>;
  readonly #requeue: (workload: Workload) => void;
  /** Changes since the last visit for them began. */
  #changes: { readonly shapes: Set<string>; readonly namespaces: Set<string>; isOfAll: boolean } | undefined;

  /** `requeue` is called for each concerned Workload. */
  constructor(visits: SlicedPass<Workload>, requeue: (workload: Workload) => void) {
    this.#visits = visits;
    this.#requeue = requeue;
  }

  add(what: 'shapes' | 'namespaces', name: string): void {
    const changes = (this.#changes ??= this.#begin());
    changes[what].add(name);
    // While another manager leads, no visits are made, so the sets are bounded.
    if (changes[what].size < ALIKE_MAX) return;
    changes.isOfAll = true;
    changes[what].clear();
  }

  #begin() {
    const changes = { shapes: new Set<string>(), namespaces: new Set<string>(), isOfAll: false };
    const visit = (workload: Workload): void => {
      if (changes.isOfAll || changes.shapes.has(workload.shape) || changes.namespaces.has(workload.namespace)) this.#requeue(workload);
    };
    this.#visits.enqueue(visit, () => (this.#changes = undefined));
    return changes;
  }
}
