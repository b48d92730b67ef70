import { isFinished } from '../../../shared/kube/conditions.ts';
import { type ClusterView, type MirrorGroup, placeOf } from './mirror-group.ts';

/**
 * Names of the clusters that a Job has to be planned anew for when contact to them is lost or found. While the only copy of a Job is listed
 * in its place, and nothing is in doubt there, only what happens to the copy matters, and that arrives as an event of the copy. Of a Job
 * that has finished or is gone, copies and open writes matter.
 */
export function contactDependence(group: MirrorGroup): readonly string[] {
  const { local, loss, copies } = group;
  const place = placeOf(group);
  const isOver = local === undefined || isFinished(local.status);
  return [...group.clusters].flatMap(([cluster, view]) => {
    const here = copies.filter((copy) => copy.cluster === cluster);
    const isInPlace = cluster === place && here.length === 1 && copies.length === 1 && here[0]?.deleting === false;
    const depends = isOver ? here.length > 0 && isOpen(view) : isOpen(view) || loss !== undefined || !isInPlace;
    return depends || view.doubt.kind !== 'None' ? [cluster] : [];
  });
}

const isOpen = ({ contact, problem, trouble }: ClusterView): boolean =>
  contact !== 'Ready' || problem !== undefined || trouble !== undefined;
