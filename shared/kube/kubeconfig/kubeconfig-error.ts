/**
 * A kubeconfig that cannot be used, with what to do about it. Names of files, contexts, clusters, users and fields stand in the
 * message, values never: they may be secrets, and the message may end in a status or a log.
 */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}
