/** What a simulated cluster runs pods on: one node at a time, which may be gone. */
import { NODES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

export interface Machine {
  /** The node that works; undefined: there is none. */
  readonly node: () => string | undefined;
  /** The node breaks, and what ran on it has ended; the cloud takes its Node away. */
  lose(): Promise<void>;
  /** There is another node, unless one works. */
  replace(): Promise<void>;
  /** The store of the cluster was put back: the node registers itself again, and the cloud takes those away that are no more. */
  restored(): Promise<void>;
}

const ALLOCATABLE = { cpu: '8', memory: '32Gi', pods: '110' };

export function createMachine(client: KubeClient): Machine {
  let count = 0;
  let working: string | undefined;
  const register = (name: string): Promise<unknown> =>
    client.create(NODES, { metadata: { name }, status: { allocatable: ALLOCATABLE, capacity: ALLOCATABLE } });
  return {
    node: () => working,
    async lose() {
      if (working === undefined) return;
      const name = working;
      working = undefined;
      await client.delete(NODES, { namespace: '', name });
    },
    async replace() {
      if (working !== undefined) return;
      const name = `node-${++count}`;
      await register(name);
      working = name;
    },
    async restored() {
      const known = (await client.list(NODES)).items.map(({ metadata }) => metadata.name);
      for (const name of known) if (name !== working) await client.delete(NODES, { namespace: '', name });
      if (working !== undefined && !known.includes(working)) await register(working);
    },
  };
}
