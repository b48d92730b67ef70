/** The worker as its own process, and what it says of itself at /metrics. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ChildProgram } from '../../support/child-program.ts';
import { cpuSecondsOf } from '../process-figures.ts';
import { parseSamples, type Sample } from '../prometheus-text.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../worker/main.ts');

/** As scripts/run.mjs and the image start it. */
const NODE_FLAGS = ['--max-semi-space-size=8'];

export class WorkerProgram implements AsyncDisposable {
  readonly #program: ChildProgram;
  #url = '';
  #problems = 0;

  private constructor(program: ChildProgram) {
    this.#program = program;
  }

  static async start(kubeconfigFile: string, flags: readonly string[], nodeFlags: readonly string[] = []): Promise<WorkerProgram> {
    const command = [process.execPath, ...NODE_FLAGS, ...nodeFlags, MAIN, '--kubeconfig', kubeconfigFile, ...flags] as const;
    const worker = new WorkerProgram(new ChildProgram('the worker', command));
    worker.#program.onLine((line) => worker.#hear(line));
    try {
      worker.#url = await worker.#program.find(
        (line) => /"worker started".*"http":"([^"]+)"/.exec(line)?.[1] ?? /"http":"([^"]+)".*"worker started"/.exec(line)?.[1],
      );
      await worker.#program.find((line) => (line.includes('caches are filled') ? true : undefined));
      return worker;
    } catch (error) {
      await worker.#program.stop();
      throw error;
    }
  }

  /** Warnings and errors in its log so far, which a good run has none of. */
  get problems(): number {
    return this.#problems;
  }

  async samples(): Promise<Sample[]> {
    const response = await fetch(`${this.#url}/metrics`);
    return parseSamples(await response.text());
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.#program.pid);
  }

  /** The most memory it ever had resident, where the system tells; else what it has now. */
  async peakBytes(): Promise<number> {
    const file = `/proc/${this.#program.pid}/status`;
    const peak = existsSync(file) ? /VmHWM:\s*(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    if (peak !== undefined) return Number(peak) * 1024;
    return (await this.samples()).find(({ name }) => name === 'process_resident_memory_bytes')?.value ?? 0;
  }

  failsWhenEnded(): Promise<never> {
    return this.#program.failsWhenEnded();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program.stop();
  }

  #hear(line: string): void {
    if (!/"level":"(warn|error)"/.test(line)) return;
    this.#problems++;
    if (this.#problems <= 5) console.error(`  worker: ${line.slice(0, 600)}`);
  }
}
