import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { freePort } from './free-port.ts';
import { answersOk, type Launch, type LaunchedProgram, untilReady } from './launched-program.ts';
import { etcdFlags, HOST } from './program-flags.ts';

/** Serves several API servers, each under a prefix of its own. */
export interface RealEtcd extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  /** Stops it, waits for `meanwhile`, and starts it again at the same address. */
  restart(meanwhile: () => void): Promise<void>;
}

export type RealEtcdOptions<P extends LaunchedProgram> = {
  readonly assets: string;
  /** Keeps its data in there. */
  readonly directory: string;
  readonly launch: Launch<P>;
  readonly clock: Clock;
};

export async function startRealEtcd<P extends LaunchedProgram>({
  assets,
  directory,
  launch,
  clock,
}: RealEtcdOptions<P>): Promise<RealEtcd> {
  const dataDir = path.join(directory, 'etcd');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const url = `http://${HOST}:${clientPort}`;
  const start = async (): Promise<P> => {
    const program = launch('etcd', [path.join(assets, 'etcd'), ...etcdFlags(dataDir, clientPort, peerPort)]);
    try {
      await untilReady(program, clock, () => answersOk(`${url}/health`));
    } catch (error) {
      await program.stop();
      throw error;
    }
    return program;
  };
  let etcd = await start();
  return {
    url,
    dataDir,
    async restart(meanwhile) {
      await etcd.stop();
      meanwhile();
      etcd = await start();
    },
    [Symbol.asyncDispose]: () => etcd.stop(),
  };
}
