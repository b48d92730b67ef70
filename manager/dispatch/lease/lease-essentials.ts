import type { Lease } from '../../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../../shared/api/wire-time.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../api/json-value.ts';

/** The fields of a Lease that decisions read, each of the right type: a worker cluster may return anything in them. */
export function essentialsOfLease(lease: Lease, annotations: readonly string[]): Lease {
  const { name, namespace, uid, resourceVersion } = lease.metadata;
  const said: unknown = lease.metadata.annotations;
  const texts = annotations.flatMap((each) => {
    const text = isJsonObject(said) ? shortText(said[each]) : undefined;
    return text === undefined ? [] : [[each, text]];
  });
  return {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp: '', annotations: Object.fromEntries(texts) },
    spec: essentialsOfSpec(lease.spec),
  };
}

function essentialsOfSpec(spec: unknown): NonNullable<Lease['spec']> {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = isJsonObject(spec) ? spec : {};
  const holder = typeof holderIdentity === 'string' ? Buffer.from(holderIdentity.slice(0, LENGTH_MAX)).toString() : undefined;
  const isCount = typeof leaseTransitions === 'number' && Number.isSafeInteger(leaseTransitions) && leaseTransitions >= 0;
  return {
    leaseDurationSeconds: sensibleDuration(leaseDurationSeconds),
    leaseTransitions: isCount ? leaseTransitions : 0,
    ...omitUndefined({ holderIdentity: holder, acquireTime: time(acquireTime), renewTime: time(renewTime) }),
  };
}

const DURATION_SECONDS_DEFAULT = 40;
const DURATION_SECONDS_MAX = 3600;
/** Holder identities of managers are shorter. A truncated identity is recognized by having this length. */
const LENGTH_MAX = 301;

const sensibleDuration = (seconds: unknown): number =>
  typeof seconds === 'number' && seconds > 0 ? Math.min(Math.ceil(seconds), DURATION_SECONDS_MAX) : DURATION_SECONDS_DEFAULT;

const shortText = (value: unknown): string | undefined => (typeof value === 'string' && value.length < LENGTH_MAX ? value : undefined);
const time = (value: unknown): string | undefined =>
  shortText(value) !== undefined && parseWireTime(value) !== undefined ? shortText(value) : undefined;
