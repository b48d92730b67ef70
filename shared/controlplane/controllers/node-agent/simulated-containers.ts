import { SIMULATE_DURATION_ANNOTATION, SIMULATE_EXIT_CODE_ANNOTATION, SIMULATE_FAILURE_RATE_ANNOTATION } from '../../../api/names.ts';
import type { DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { ContainerExit, ContainerRuntime } from './container-runtime.ts';

/** What a process that heeds SIGTERM usually leaves. */
const EXIT_CODE_SIGTERM = 143;

export const isSimulated = (pod: DeepReadonly<Pod>): boolean => pod.metadata.annotations?.[SIMULATE_DURATION_ANNOTATION] !== undefined;

/** Containers that take their annotated time and end with their annotated code, without any process. */
export function createSimulatedContainers(clock: Clock, random: Random): ContainerRuntime {
  const running = new Set<(exit: ContainerExit) => void>();
  return {
    mount: () => undefined,
    podChanged: () => undefined,
    ask: undefined,
    start({ pod }) {
      const annotations = pod.metadata.annotations ?? {};
      const durationMs = parseDurationMs(annotations[SIMULATE_DURATION_ANNOTATION] ?? '');
      if (durationMs === undefined) {
        const message = `annotation ${SIMULATE_DURATION_ANNOTATION} is no duration: write 500ms, 2s or 1m`;
        return { hasStarted: false, exited: Promise.resolve({ exitCode: 128, reason: 'StartError', message }), stop: () => undefined };
      }
      const { promise: exited, resolve } = Promise.withResolvers<ContainerExit>();
      const end = (exit: ContainerExit): void => {
        timer.cancel();
        running.delete(end);
        resolve(exit);
      };
      const exitCode = plannedExitCode(annotations, random);
      const timer = clock.schedule(() => end({ exitCode }), durationMs);
      running.add(end);
      return { hasStarted: true, exited, stop: () => end({ exitCode: EXIT_CODE_SIGTERM }) };
    },
    removePod: async () => undefined,
    close: async () => {
      for (const end of running) end({ exitCode: 137 });
    },
  };
}

function plannedExitCode(annotations: Readonly<Record<string, string>>, random: Random): number {
  const code = annotations[SIMULATE_EXIT_CODE_ANNOTATION];
  const rate = annotations[SIMULATE_FAILURE_RATE_ANNOTATION];
  if (rate === undefined) return Number(code ?? 0) || 0;
  return random() < Number(rate) ? Number(code ?? 1) || 1 : 0;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `250ms`, `1.5s`, `2m`, `1h`, or plain seconds. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  return match === null ? undefined : Number(match[1]) * (UNITS_MS[match[2] ?? 's'] ?? 1000);
}
