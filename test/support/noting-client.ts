import type { KubeClient } from '../../shared/kube/client.ts';

/** A client that notes what it writes, and gets no answer while `isCut`. */
export function noting(client: KubeClient, into: string[], isCut: () => boolean = () => false): KubeClient {
  const reached = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isCut()) throw new Error('cut off by the test');
    return await call();
  };
  const noted = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    into.push(what);
    return await reached(call);
  };
  return {
    get: (...call) => reached(() => client.get(...call)),
    list: (...call) => reached(() => client.list(...call)),
    watch: (...call) => client.watch(...call),
    raw: (...call) => reached(() => client.raw(...call)),
    close: () => client.close(),
    create: (...call) => noted(`create ${call[0].plural} ${call[1].metadata.name}`, () => client.create(...call)),
    replace: (...call) => noted(`replace ${call[0].plural} ${call[1].metadata.name}`, () => client.replace(...call)),
    patch: (...call) => noted(`patch ${call[0].plural} ${call[1].name}`, () => client.patch(...call)),
    delete: (...call) => noted(`delete ${call[0].plural} ${call[1].name}`, () => client.delete(...call)),
    replaceStatus: (...call) => noted(`replace status of ${call[0].plural} ${call[1].metadata.name}`, () => client.replaceStatus(...call)),
    patchStatus: (...call) => noted(`patch status of ${call[0].plural} ${call[1].name}`, () => client.patchStatus(...call)),
  };
}
