import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createControlPlane, type ControlPlane, type ControlPlaneOptions } from '../../shared/controlplane/control-plane.ts';
import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../shared/kube/transport.ts';

/** A control plane whose data directory can be put back to what it was. */
export type RestorablePlane = Omit<ControlPlane, 'faults' | 'listen'> & {
  /** Copies the data directory. */
  backup(): string;
  /** Stops it, puts a backup in place of its data directory, and starts it anew. */
  restore(backup: string): Promise<void>;
};

export async function createRestorablePlane(options: Omit<ControlPlaneOptions, 'dataDir'>): Promise<RestorablePlane> {
  const directory = mkdtempSync(path.join(tmpdir(), 'restorable-'));
  let generations = 0;
  let dataDir = path.join(directory, 'data');
  let plane: ControlPlane | undefined = await createControlPlane({ ...options, dataDir });
  const open = new Set<Transport>();

  const stop = async (): Promise<void> => {
    const stopping = plane;
    plane = undefined;
    for (const transport of open) await transport.close();
    open.clear();
    await stopping?.close();
  };
  return {
    transport(user) {
      let of: ControlPlane | undefined;
      let present: Transport | undefined;
      const current = (): Transport => {
        if (plane === undefined) throw new Error('connect ECONNREFUSED');
        if (of !== plane || present === undefined) {
          of = plane;
          present = plane.transport(user);
          open.add(present);
        }
        return present;
      };
      return {
        send: async (request: TransportRequest): Promise<TransportResponse> => current().send(request),
        stream: async (request: TransportRequest): Promise<TransportStream> => current().stream(request),
        close: async () => present?.close(),
      };
    },
    backup() {
      const backup = path.join(directory, `backup-${++generations}`);
      cpSync(dataDir, backup, { recursive: true });
      return backup;
    },
    async restore(backup) {
      await stop();
      dataDir = path.join(directory, `data-${++generations}`);
      cpSync(backup, dataDir, { recursive: true });
      plane = await createControlPlane({ ...options, dataDir });
    },
    async close() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
