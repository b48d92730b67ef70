import type { Container, DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import { addRequests, largerRequests, parseRequests, type Requests } from './amount.ts';

/**
 * What one pod requests, as the scheduler reserves it (upstream's resource helpers, PodRequests): the sum of its containers and
 * sidecars, or the peak while its init containers run, whichever is greater; pod-level requests replace both; overhead comes on top.
 */
export function podRequests(pod: DeepReadonly<PodSpec>): Requests {
  const running = (pod.containers ?? []).reduce((sum, container) => addRequests(sum, containerRequests(container)), none);
  const { sidecars, initPeak } = initRequests(pod.initContainers ?? []);
  const computed = largerRequests(addRequests(running, sidecars), initPeak);
  const podLevel = parseRequests(pod.resources?.requests);
  return addRequests(new Map([...computed, ...podLevel]), parseRequests(pod.overhead));
}

const none: Requests = new Map();

/** A container asks for its limit where it names no request; the API server fills that in for pods, but not for templates. */
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
