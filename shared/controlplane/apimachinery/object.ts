/** An object as the control plane handles it: untyped JSON with metadata. */
export type AnyObject = { apiVersion?: string; kind?: string; metadata: AnyMeta; [field: string]: unknown };
export type AnyMeta = {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean; blockOwnerDeletion?: boolean }[];
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  managedFields?: unknown[];
  [field: string]: unknown;
};
