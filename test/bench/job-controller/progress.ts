/** What the parts of a long run cost: whether a Job with many counted pods is dearer than one with few. */
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { increase, type Sample, total } from '../prometheus-text.ts';

/** One tenth of a run. */
export type Progress = {
  /** Pods counted at its end. */
  readonly counted: number;
  readonly seconds: number;
  readonly cpuMicrosPerPod: number;
  readonly meanSyncMs: number;
  readonly residentMiB: number;
};

/** Runs shorter than this are not cut into parts. */
const PODS_MIN = 20_000;
const PARTS = 10;
const LOOK_EVERY_MS = 500;
const COUNTED = 'job_controller_job_pods_finished_total';
const SYNC_DURATION = 'job_controller_job_sync_duration_seconds';

export function watchProgress(worker: { samples(): Promise<readonly Sample[]> }, pods: number): { stop(): Promise<readonly Progress[]> } {
  if (pods < PODS_MIN) return { stop: async () => [] };
  const stopping = new AbortController();
  const parts: Progress[] = [];
  let start = performance.now();
  let before: readonly Sample[] | undefined;
  const look = async (): Promise<void> => {
    const now = await worker.samples();
    before ??= now;
    const counted = increase(before, now, COUNTED);
    if (total(now, COUNTED) < (parts.length + 1) * (pods / PARTS) || counted === 0) return;
    const part = {
      counted: total(now, COUNTED),
      seconds: (performance.now() - start) / 1000,
      cpuMicrosPerPod: (increase(before, now, 'process_cpu_seconds_total') / counted) * 1e6,
      meanSyncMs: (increase(before, now, `${SYNC_DURATION}_sum`) / increase(before, now, `${SYNC_DURATION}_count`)) * 1000,
      residentMiB: total(now, 'process_resident_memory_bytes') / 2 ** 20,
    };
    parts.push(part);
    console.log(
      `    ${part.counted} pods: ${part.seconds.toFixed(1)} s, ${part.cpuMicrosPerPod.toFixed(0)} us CPU a pod, sync ${part.meanSyncMs.toFixed(0)} ms, ${part.residentMiB.toFixed(0)} MiB`,
    );
    [before, start] = [now, performance.now()];
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look();
      await sleep(systemClock, LOOK_EVERY_MS, stopping.signal);
    }
    await look();
  };
  const looping = loop();
  return {
    stop: async () => {
      stopping.abort();
      await looping;
      return parts;
    },
  };
}
