import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import { ed25519KeyOf } from './signature.ts';
import { tenantOf, tenantProblem, type Tenant, type TenantProblem, type TenantRules } from './tenant.ts';

/** Whose queues are served, and whose are not, with the reason. */
export type Tenants = {
  readonly tenants: readonly Tenant[];
  readonly problems: readonly { readonly tenant: Tenant; readonly problem: TenantProblem }[];
};

/**
 * The tenants of the flags and of all objects. Where two ask for the same, the older has it, whatever the order in which they are listed.
 */
export function tenantsOf(
  shared: Tenant | undefined,
  objects: readonly DeepReadonly<SubmissionQueueObject>[],
  rules: TenantRules,
): Tenants {
  const tenants = shared === undefined ? [] : [shared];
  const problems: { readonly tenant: Tenant; readonly problem: TenantProblem }[] = [];
  for (const object of objects.toSorted(byAge)) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const tenant = tenantOf(object, rules);
    const problem = tenantProblem(tenant, tenants, rules) ?? signingProblem(tenant);
    if (problem === undefined) tenants.push(tenant);
    else problems.push({ tenant, problem });
  }
  return { tenants, problems };
}

/** A queue of which a key cannot be read is not served: its submitters would be told that their signatures are wrong. */
function signingProblem({ signingKeys }: Tenant): TenantProblem | undefined {
  const wrong = signingKeys.find(({ publicKey }) => ed25519KeyOf(publicKey) === undefined);
  if (wrong === undefined) return undefined;
  const message = `spec.signing.keys: ${wrong.name} is no Ed25519 public key; write it as PEM, or as base64 of its DER or of its 32 bytes`;
  return { reason: 'InvalidSigningKey', message };
}

type Aged = DeepReadonly<SubmissionQueueObject>;
const byAge = ({ metadata: a }: Aged, { metadata: b }: Aged): number => compared(timeOf(a), timeOf(b)) || compared(a.uid, b.uid);
const timeOf = ({ creationTimestamp }: Aged['metadata']): string => creationTimestamp;
const compared = (a: string, b: string): number => Number(a > b) - Number(a < b);
