import type { Container, DeepReadonly } from '../../../api/kubernetes.ts';
import { sleep, type Clock } from '../../../runtime/clock.ts';

export type Probe = NonNullable<DeepReadonly<Container>['livenessProbe']>;

/** How one attempt went: undefined where it succeeded, else what to tell. Never rejects. */
export type AskProbe = (
  probe: Probe,
  container: DeepReadonly<Container>,
  podIp: string,
  signal: AbortSignal,
) => Promise<string | undefined>;

export type ProbeOutcome = { readonly kind: 'Succeeded' | 'Over' } | { readonly kind: 'Failed'; readonly problem: string };

/**
 * Asks a probe as the kubelet does (prober/worker.go): a startup probe until it succeeds, a liveness probe for as long as the container
 * runs, and either until it has failed so often in a row. Over: `signal` has aborted.
 */
export async function watchProbe(
  probe: Probe,
  kind: 'startup' | 'liveness',
  ask: () => Promise<string | undefined>,
  clock: Clock,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { initialDelaySeconds = 0, periodSeconds = 10, failureThreshold = 3 } = probe;
  if (initialDelaySeconds > 0) await sleep(clock, initialDelaySeconds * 1000, signal);
  let failures = 0;
  while (!signal.aborted) {
    const problem = await ask();
    if (signal.aborted) break;
    if (problem === undefined && kind === 'startup') return { kind: 'Succeeded' };
    failures = problem === undefined ? 0 : failures + 1;
    if (problem !== undefined && failures >= failureThreshold) return { kind: 'Failed', problem };
    await sleep(clock, periodSeconds * 1000, signal);
  }
  return { kind: 'Over' };
}

/** Commands and gRPC are not asked: a container with such a probe counts as one without. */
export const isAsked = (probe: Probe | undefined): probe is Probe => probe?.httpGet !== undefined || probe?.tcpSocket !== undefined;
