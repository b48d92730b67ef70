import type { Container, DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import { addRequests, largerRequests, parseRequests, type Requests } from './amount.ts';

/**
 * The requests of one pod, as the scheduler reserves them (upstream's resource helpers, PodRequests): the sum of its containers and
 * sidecars, or the peak while its init containers run, whichever is greater. Pod-level requests replace both, and overhead is added.
 * Missing requests default as the API server fills them in for pods, but not for templates.
 */
export function podRequests(pod: DeepReadonly<PodSpec>): Requests {
  const running = (pod.containers ?? []).reduce((sum, container) => addRequests(sum, containerRequests(container)), none);
  const { sidecars, initPeak } = initRequests(pod.initContainers ?? []);
  const computed = largerRequests(addRequests(running, sidecars), initPeak);
  return addRequests(new Map([...computed, ...podLevelRequests(pod, computed)]), parseRequests(pod.overhead));
}

const none: Requests = new Map();

/** A container without a request requests its limit. */
const containerRequests = (container: DeepReadonly<Container>): Requests =>
  new Map([...parseRequests(container.resources?.limits), ...parseRequests(container.resources?.requests)]);

/** Init containers run one after the other, each beside the sidecars (restartPolicy Always) that were started before it. */
function initRequests(containers: readonly DeepReadonly<Container>[]): { sidecars: Requests; initPeak: Requests } {
  let sidecars = none;
  let initPeak = none;
  for (const container of containers) {
    const own = addRequests(sidecars, containerRequests(container));
    if (container.restartPolicy === 'Always') sidecars = own;
    initPeak = largerRequests(initPeak, own);
  }
  return { sidecars, initPeak };
}

/**
 * Pod-level requests (KEP-2837). A pod-level limit without a request leaves the requests of the containers, and counts as the request where
 * they have none; for huge pages, which cannot be overcommitted, it always counts.
 */
function podLevelRequests({ resources }: DeepReadonly<PodSpec>, computed: Requests): Requests {
  const limits = [...parseRequests(resources?.limits)].filter(([resource]) => isHugePages(resource) || !computed.has(resource));
  return new Map([...limits, ...parseRequests(resources?.requests)].filter(([resource]) => isPodLevel(resource)));
}

/** Other resources have no pod-level requests. */
const isPodLevel = (resource: string): boolean => resource === 'cpu' || resource === 'memory' || isHugePages(resource);
const isHugePages = (resource: string): boolean => resource.startsWith('hugepages-');
