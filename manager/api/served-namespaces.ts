/** Whether a WorkerCluster takes Jobs of a namespace; `served` is its `spec.servedNamespaces`, absent for all. */
export const servesNamespace = (served: readonly string[] | undefined, namespace: string): boolean =>
  served === undefined || served.includes(namespace);
