/**
 * What the decision log costs where very many Jobs wait: Jobs end, and others are admitted, with a log on the disk and without one, in
 * pairs.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LineSink } from '../../manager/admission/decision-log/decision-recorder.ts';
import { createDecisionLogFile } from '../../manager/process/decision-log-file.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { fill, type ChangesLoad } from './admission-changes.ts';
import type { AdmissionWhole } from './admission-whole.ts';
import { cpuMs, threadCpuMs } from './cpu-time.ts';

const PAIRS = 3;
/** So many end in a run, and so many of them at once. */
const ENDS = 4_000;
const ENDS_AT_ONCE = 20;
const WAITS_MAX = 200;
const FILE_BYTES_MAX = 2 ** 30;

type Figures = { readonly threadUs: number; readonly processUs: number; readonly bytes: number };

/** Of each run the processor time for a Job that ends, of the thread that decides and of the whole process, and what was written for it. */
export async function* measureDecisionLog(load: ChangesLoad): AsyncGenerator<readonly string[]> {
  yield ['decision log', 'thread', 'process', 'written'];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Whoever comes first in a pair finds other code compiled.
    for (const isOn of pair % 2 === 0 ? [false, true] : [true, false]) {
      const { threadUs, processUs, bytes } = isOn ? await logged(load) : await endsOf(fill(load), () => 0);
      yield [isOn ? 'on' : 'off', `${threadUs.toFixed(0)} us a Job`, `${processUs.toFixed(0)} us`, `${bytes.toFixed(0)} bytes`];
    }
  }
}

async function logged(load: ChangesLoad): Promise<Figures> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  const destination = path.join(directory, 'decisions.log');
  const config = { destination, fileBytesMax: FILE_BYTES_MAX, filesMax: 1 };
  const file = createDecisionLogFile({ config, clock: systemClock, log: silentLogger });
  await file.open();
  const sink: LineSink = file;
  try {
    return await endsOf(fill(load, sink), () => statSync(destination).size);
  } finally {
    await file.close(60_000);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function endsOf(whole: AdmissionWhole, written: () => number): Promise<Figures> {
  whole.start();
  await settled(whole);
  const [threadMs, processMs, bytes] = [threadCpuMs(), cpuMs(), written()];
  const usually = whole.running();
  for (let ended = 0; ended < ENDS; ended += ENDS_AT_ONCE) {
    whole.end(ENDS_AT_ONCE);
    await sleep(systemClock, 5);
    // Others are admitted meanwhile, however busy the machine is.
    for (let waits = 0; waits < WAITS_MAX && whole.running() < usually * 0.9; waits++) await sleep(systemClock, 5);
  }
  await settled(whole);
  const figures = {
    threadUs: ((threadCpuMs() - threadMs) * 1000) / ENDS,
    processUs: ((cpuMs() - processMs) * 1000) / ENDS,
    bytes: (written() - bytes) / ENDS,
  };
  await whole.stop();
  return figures;
}

/** Until somebody runs, and nobody is admitted any more. */
async function settled(whole: AdmissionWhole): Promise<void> {
  for (let before = 0; before === 0 || before !== whole.running(); ) {
    before = whole.running();
    await sleep(systemClock, 2_000);
  }
}
