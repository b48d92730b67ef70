/** kube-controller-manager with nothing but its Job controller, from the directory that KUBEBUILDER_ASSETS names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ChildProgram } from '../../support/child-program.ts';
import { realControlPlaneAssets } from '../../support/real-control-plane.ts';
import type { Sample } from '../prometheus-text.ts';
import { cpuSecondsOf, peakResidentBytesOf } from '../process-figures.ts';

export class UpstreamProgram implements AsyncDisposable {
  readonly #program: ChildProgram;
  readonly #directory: string;

  private constructor(program: ChildProgram, directory: string) {
    this.#program = program;
    this.#directory = directory;
  }

  static async start(kubeconfigFile: string): Promise<UpstreamProgram> {
    const assets = realControlPlaneAssets();
    if (assets === undefined) throw new Error('KUBEBUILDER_ASSETS names no directory with kube-controller-manager');
    const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-upstream-'));
    const program = new ChildProgram('kube-controller-manager', [
      path.join(assets, 'kube-controller-manager'),
      `--kubeconfig=${kubeconfigFile}`,
      `--cert-dir=${directory}`,
      '--controllers=job-controller',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      // The limiter is not measured, on either side.
      '--kube-api-qps=100000',
      '--kube-api-burst=100000',
      '-v=2',
    ]);
    const upstream = new UpstreamProgram(program, directory);
    try {
      await program.find((line) => (line.includes('Caches are synced') ? true : undefined));
      return upstream;
    } catch (error) {
      await upstream[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Metrics of its own are behind authentication and have other names: only what the kernel says of it is compared. */
  async samples(): Promise<readonly Sample[]> {
    return [];
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.#program.pid);
  }

  async peakBytes(): Promise<number> {
    return peakResidentBytesOf(this.#program.pid);
  }

  failsWhenEnded(): Promise<never> {
    return this.#program.failsWhenEnded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
