/**
 * A manager cluster that listens on a port, with a whole manager, a worker cluster and a worker, on a clock that goes while a command runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { createControlPlane, type ControlPlane } from '../../shared/controlplane/control-plane.ts';
import { createWholeWorld, HOME, type WholeWorld } from '../scenario/whole-world.ts';
import type { SingleKind } from '../../manager/work-kind/work-kind.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { createCrds } from '../support/crds.ts';
import { startSwitchyardHere } from '../support/switchyard-here.ts';
import { startSwitchyard, type Outcome, type RunningSwitchyard, type SwitchyardOptions } from '../support/switchyard-process.ts';

type OptionsHere = Omit<SwitchyardOptions, 'input'>;

export type CliWorld = {
  readonly world: WholeWorld;
  /** Of an administrator of the manager cluster. */
  readonly kubeconfig: string;
  readonly folder: string;
  /** Serves a cluster on a port, and writes its kubeconfig. */
  listen(cluster: string): Promise<string>;
  /** Runs a command in this process while time goes on. */
  run(args: readonly string[], options?: OptionsHere): Promise<Outcome>;
  /** The same in a process of its own: slow, where that is what is looked at. */
  runProcess(args: readonly string[]): Promise<Outcome>;
  /** Time goes on until this holds. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  start(args: readonly string[]): Omit<RunningSwitchyard, 'child'>;
  startProcess(args: readonly string[]): RunningSwitchyard;
  close(): Promise<void>;
};

const STEP_MS = 100;

type CliWorldOptions = {
  readonly keepsLogs?: boolean;
  /** Taken beside Jobs. */
  readonly kinds?: readonly SingleKind[];
  /** What there is on each cluster besides. */
  readonly install?: (client: KubeClient, cluster: string) => Promise<void>;
};

/** With `keepsLogs` workers keep the ends of logs, and the manager keeps history in `folder/history`. */
export async function createCliWorld(
  clusters: readonly string[] = ['east'],
  { keepsLogs = false, kinds, install }: CliWorldOptions = {},
): Promise<CliWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-cli-'));
  const planes = new Map<string, ControlPlane>();
  const world = await createWholeWorld({
    clusters,
    createPlane: async (name, options) => {
      const plane = await createControlPlane(options);
      planes.set(name, plane);
      return plane;
    },
    install: async (client, cluster) => {
      if (cluster === HOME) await createCrds(client);
      await install?.(client, cluster);
    },
  });
  const listen = async (cluster: string): Promise<string> => {
    const plane = planes.get(cluster);
    if (plane === undefined) throw new Error(`there is no cluster ${cluster}`);
    const file = path.join(folder, `${cluster}.kubeconfig`);
    writeFileSync(file, (await plane.listen()).kubeconfig);
    return file;
  };
  const kubeconfig = await listen(HOME);
  const store = keepsLogs ? openSqliteStore(path.join(folder, 'history')) : undefined;
  const history = store && { store, limits: { ageMs: 1e12, bytesMax: 1e9 } };
  world.startManager('manager', { parts: omitUndefined({ history, kinds }) });
  for (const cluster of clusters)
    world.startWorker(cluster, `worker-${cluster}`, {
      ...(keepsLogs ? { podLogs: '' } : {}),
      // Of their copies a worker knows by the Lease of their manager.
      ...(kinds === undefined ? {} : { fenceAfterMs: 60_000 }),
    });
  await world.clock.advance(5_000);
  const start = (args: readonly string[], options?: OptionsHere): Omit<RunningSwitchyard, 'child'> =>
    startSwitchyardHere(args, { kubeconfig, ...options });
  const startProcess = (args: readonly string[]): RunningSwitchyard => startSwitchyard(args, { kubeconfig });
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    // A step of the world's clock, and a turn for whatever comes over the sockets.
    while (!(await holds())) {
      await world.clock.advance(STEP_MS);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const whileTimeGoesOn = async (outcome: Promise<Outcome>): Promise<Outcome> => {
    let isOver = false;
    outcome.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    await until(() => isOver);
    return outcome;
  };
  return {
    world,
    kubeconfig,
    folder,
    listen,
    start,
    startProcess,
    until,
    run: (args, options) => whileTimeGoesOn(start(args, options).outcome),
    runProcess: (args) => whileTimeGoesOn(startProcess(args).outcome),
    async close() {
      await world.close();
      await store?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
