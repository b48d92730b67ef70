import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { QuantityError } from '../../shared/kube/quantity.ts';
import { parseAmount, ZERO } from '../api/amount.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import { weightOf } from '../api/fair-weight.ts';
import type { ObjectEdit } from '../insight/questions/simulation-queries.ts';

const EDITS_MAX = 64;
const TEXT_MAX = 64;

/**
 * Parses the edits of a what-if question about a ClusterQueue: `quota=FLAVOR:RESOURCE=QUANTITY` and `drain=CLUSTER`, any number of times,
 * and `weight=NUMBER`. `clusters`: those that the viewer may see.
 */
export function parseWishes(
  parameters: URLSearchParams,
  queue: DeepReadonly<ClusterQueue>,
  clusters: ReadonlySet<string>,
): readonly ObjectEdit[] | { readonly problem: string } {
  const { name } = queue.metadata;
  const given = [...parameters];
  if (given.length === 0) return { problem: 'say what would be otherwise: quota=FLAVOR:RESOURCE=QUANTITY, weight=NUMBER or drain=CLUSTER' };
  if (given.length > EDITS_MAX) return { problem: `at most ${EDITS_MAX} changes at once` };
  const edits: ObjectEdit[] = [];
  for (const [parameter, text] of given) {
    switch (parameter) {
      case 'quota': {
        const [, flavor = '', resource = '', amount = ''] = /^([^:=]+):([^:=]+)=([^=]*)$/.exec(text) ?? [];
        if (!hasQuota(queue, flavor, resource))
          return { problem: `quota=${text}: write FLAVOR:RESOURCE=QUANTITY, of which ${name} has ${quotasOf(queue).join(', ') || 'none'}` };
        if (!isQuantity(resource, amount)) return { problem: `quota=${text}: write a quantity behind the =, such as 8 or 16Gi` };
        edits.push({ object: 'ClusterQueue', name, edit: { field: 'quota', flavor, resource, amount } });
        break;
      }
      case 'weight':
        if (!isWeight(text)) return { problem: `weight=${text}: write a number such as 2 or 0.5` };
        edits.push({ object: 'ClusterQueue', name, edit: { field: 'weight', weight: text } });
        break;
      case 'drain':
        if (!clusters.has(text)) return { problem: `drain=${text}: there is no WorkerCluster of that name that you may see` };
        edits.push({ object: 'WorkerCluster', name: text, edit: { field: 'state', state: 'Draining' } });
        break;
      default:
        return { problem: `${parameter}: nothing of that name can be otherwise here; choose from quota, weight, drain` };
    }
  }
  return edits;
}

const quotasOf = ({ spec }: DeepReadonly<ClusterQueue>): string[] =>
  (spec.resourceGroups ?? []).flatMap(({ flavors }) =>
    flavors.flatMap(({ name, resources }) => resources.map((resource) => `${name}:${resource.name}`)),
  );
const hasQuota = (queue: DeepReadonly<ClusterQueue>, flavor: string, resource: string): boolean =>
  quotasOf(queue).includes(`${flavor}:${resource}`);

const isQuantity = (resource: string, text: string): boolean => isRead(text, () => /^\d/.test(text) && parseAmount(resource, text) >= ZERO);
const isWeight = (text: string): boolean => isRead(text, () => /^\d/.test(text) && weightOf({ weight: text }) >= 0);

function isRead(text: string, read: () => boolean): boolean {
  if (text.length > TEXT_MAX) return false;
  try {
    return read();
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}
