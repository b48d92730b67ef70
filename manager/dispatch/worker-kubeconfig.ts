import { parse } from 'yaml';

/** What a kubeconfig from a Secret may not contain: it must not make this program run commands or read files of its own host. */
const FORBIDDEN_USER_FIELDS = ['exec', 'auth-provider', 'tokenFile', 'client-certificate', 'client-key'];
const FORBIDDEN_CLUSTER_FIELDS = ['certificate-authority'];

/** Why the kubeconfig of a worker cluster is not accepted, and what to do about it; undefined when it is. */
export function kubeconfigProblem(text: string): string | undefined {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    return `it is not YAML: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isObject(document)) return 'it is not a YAML mapping';
  return (
    forbidden(document, 'users', 'user', FORBIDDEN_USER_FIELDS) ?? forbidden(document, 'clusters', 'cluster', FORBIDDEN_CLUSTER_FIELDS)
  );
}

function forbidden(document: Record<string, unknown>, list: string, entry: string, fields: readonly string[]): string | undefined {
  const entries = document[list];
  if (!Array.isArray(entries)) return undefined;
  for (const each of entries) {
    const value: unknown = isObject(each) ? each[entry] : undefined;
    const field = isObject(value) ? fields.find((name) => value[name] !== undefined) : undefined;
    if (field !== undefined) return `${list}[].${entry}.${field} is not allowed; put the credentials themselves into the kubeconfig`;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
