/**
 * The entry of a deny list that a namespace falls under; undefined: it is not denied. An entry is the name of a namespace, or a prefix and
 * `*`. Manager and worker judge by the same rule, each with a list of its own (`--denied-namespaces`).
 */
export const deniedBy = (denied: readonly string[], namespace: string): string | undefined =>
  denied.find((entry) => (entry.endsWith('*') ? namespace.startsWith(entry.slice(0, -1)) : entry === namespace));

/** Namespaces of Kubernetes itself. */
export const SYSTEM_NAMESPACES: readonly string[] = ['kube-*'];

/** Regular expression of an entry. `*` alone would deny all. */
export const DENIED_NAMESPACE_PATTERN = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9]|[-a-z0-9]{0,61}[*])?$';
