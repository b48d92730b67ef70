/**
 * A control plane whose store can be put back to what it was earlier, while all who use it go on: what an operator does after etcd was
 * lost.
 */
import { type ControlPlane, type ControlPlaneOptions, createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { PersistenceRecord } from '../../shared/controlplane/storage/persistence.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import { firstAbort } from '../../shared/runtime/first-abort.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import type { Transport, TransportRequest, TransportStream } from '../../shared/kube/transport.ts';
import { type Backup, createMemoryPersistence, type MemoryPersistence } from './memory-persistence.ts';

export interface RestorablePlane {
  /** Reaches whichever server there is; as a member of system:masters unless `user` is given. */
  transport(user?: UserInfo): Transport;
  backUp(): Backup;
  /**
   * Starts another server from the backup in place of the present one. Open watches break, or, when they are left, say nothing any more.
   */
  restore(backup: Backup, watches: 'Broken' | 'Left'): Promise<void>;
  close(): Promise<void>;
}

type Server = { readonly plane: ControlPlane; readonly persistence: MemoryPersistence };

/** `stored` is what it starts with; absent: nothing. `onStored` hears of each write. */
export async function createRestorablePlane(
  options: Omit<ControlPlaneOptions, 'dataDir' | 'persistence'>,
  stored?: Backup,
  onStored?: (record: PersistenceRecord) => void,
): Promise<RestorablePlane> {
  let server = await start(stored);
  let brokenStreams = new AbortController();

  async function start(backup: Backup | undefined): Promise<Server> {
    const persistence = createMemoryPersistence(backup, onStored);
    const plane = await createControlPlane({ ...options, persistence });
    return { plane, persistence };
  }

  function transport(user?: UserInfo): Transport {
    let its = server;
    let way = its.plane.transport(user);
    const current = (): Transport => {
      if (its !== server) [its, way] = [server, server.plane.transport(user)];
      return way;
    };
    return { send: (request) => current().send(request), stream: (request) => stream(current(), request), close: async () => undefined };
  }

  /** The server itself knows nothing of connections, so that what it says at its end is not passed on where they are left. */
  async function stream(way: Transport, request: TransportRequest): Promise<TransportStream> {
    const its = server;
    const broken = brokenStreams.signal;
    const signals = request.signal === undefined ? [broken] : [broken, request.signal];
    const either = firstAbort(signals);
    const { chunks, ...rest } = await way.stream({ ...request, signal: either.signal });
    async function* whileItLives(): AsyncGenerator<string> {
      try {
        yield* chunks;
      } catch (error) {
        if (server === its || broken.aborted || request.signal?.aborted === true) throw error;
      } finally {
        either.release();
      }
      if (server === its) return;
      await aborted(firstAbort(signals).signal);
      throw new Error('connection lost');
    }
    return { ...rest, chunks: whileItLives() };
  }

  return {
    transport,
    backUp: () => server.persistence.backUp(),
    async restore(backup, watches) {
      const former = server;
      server = await start(backup);
      if (watches === 'Broken') {
        brokenStreams.abort(new Error('connection lost'));
        brokenStreams = new AbortController();
      }
      await former.plane.close();
    },
    close: () => server.plane.close(),
  };
}
