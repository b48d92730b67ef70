import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Launch, LaunchedProgram } from '../../../shared/controlplane/binaries/launched-program.ts';
import { signalGroup, spawnLeashed } from '../../../shared/runtime/leash.ts';

const STOP_GRACE_MS = 10_000;

/**
 * Starts programs of a control plane, each with a log in the directory. Nothing of them is left when this process ends, however it ends.
 */
export const launchIn =
  (directory: string, searched: string | undefined): Launch<LaunchedProgram> =>
  (name, command) => {
    const logFile = path.join(directory, `${name.replaceAll(' ', '-')}.log`);
    const output = openSync(logFile, 'a');
    try {
      // Variables of the user's are flags of etcd and of others.
      const child = spawnLeashed(command, { env: { PATH: searched }, output });
      const ended = new Promise<string>((resolve) => {
        child.once('error', (error) => resolve(error.message));
        child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`));
      });
      return {
        failsWhenEnded: async () => {
          throw new Error(`${name} ended with ${await ended}; its log: ${logFile}`);
        },
        async stop() {
          if (child.pid === undefined || !signalGroup(child.pid, 'SIGTERM')) return;
          const { pid } = child;
          const killing = setTimeout(() => signalGroup(pid, 'SIGKILL'), STOP_GRACE_MS);
          await ended;
          clearTimeout(killing);
        },
      };
    } finally {
      closeSync(output);
    }
  };
