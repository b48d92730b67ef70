import type { V1CSIDriverSpec } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateOptionalChoice } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { bumpGeneration } from './generation.ts';
import { validateImmutable } from './immutable-field.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedSpec = Decoded<Wire<V1CSIDriverSpec>>;
type DecodedDriver = AnyObject & { spec?: DecodedSpec | undefined };
/** The registry hands this strategy decoded CSIDrivers only. */
const asDriver = (object: AnyObject): DecodedDriver => object as DecodedDriver;

/** storage.k8s.io/v1 CSIDriver: what a volume driver says of itself; there is none here. */
export const csiDriverStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const spec = (asDriver(object).spec ??= {});
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
  prepareForCreate: dropSchedulingVeto,
  validateCreate: (object) => {
    const { metadata, spec = {} } = asDriver(object);
    return [...validateObjectMeta(metadata, false, subdomainName), ...validateSpec(spec)];
  },
  prepareForUpdate: (next, previous) => {
    dropSchedulingVeto(next);
    bumpGeneration(next, previous);
  },
  validateUpdate: (object, stored) => {
    const [{ metadata, spec = {} }, { metadata: before, spec: previous = {} }] = [asDriver(object), asDriver(stored)];
    return [
      ...validateObjectMetaUpdate(metadata, before),
      ...validateSpec(spec),
      // Upstream's path is not the field's name.
      ...validateImmutable(spec.attachRequired, previous.attachRequired, 'spec.attachedRequired'),
      ...validateImmutable(spec.volumeLifecycleModes, previous.volumeLifecycleModes, 'spec.volumeLifecycleModes'),
    ];
  },
  forbidUnconditionalUpdate: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('AttachRequired', 'attachRequired indicates this CSI volume driver requires an attach operation.', { type: 'boolean' }),
      column(
        'PodInfoOnMount',
        'podInfoOnMount indicates this CSI volume driver requires additional pod information during mount operations.',
        {
          type: 'boolean',
        },
      ),
      column(
        'StorageCapacity',
        'storageCapacity indicates that the CSI volume driver wants pod scheduling to consider the storage capacity.',
        {
          type: 'boolean',
        },
      ),
      column('TokenRequests', 'tokenRequests indicates the CSI driver needs tokens of the service accounts of pods.'),
      column('RequiresRepublish', 'requiresRepublish indicates the CSI driver wants NodePublishVolume being periodically called.', {
        type: 'boolean',
      }),
      column('Modes', 'volumeLifecycleModes defines what kind of volumes this CSI volume driver supports.'),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, spec = {} } = asDriver(object);
      const audiences = (spec.tokenRequests ?? []).map(({ audience = '' }) => audience);
      return [
        metadata.name,
        spec.attachRequired ?? true,
        spec.podInfoOnMount ?? false,
        spec.storageCapacity ?? false,
        audiences.length === 0 ? '<unset>' : audiences.join(','),
        spec.requiresRepublish ?? false,
        (spec.volumeLifecycleModes ?? []).join(','),
        ageOf(metadata.creationTimestamp, now),
      ];
    },
  },
};

/** The field of a feature that is off by default (VolumeLimitScaling). */
function dropSchedulingVeto(object: AnyObject): void {
  delete asDriver(object).spec?.preventPodSchedulingIfMissing;
}

const UPDATE_PERIOD_MIN_SECONDS = 10;
const TOKEN_MIN_SECONDS = 600;
const TOKEN_MAX_SECONDS = 2 ** 32;

function validateSpec(spec: DecodedSpec): FieldError[] {
  const { tokenRequests = [], nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  const audiences = tokenRequests.map(({ audience = '' }) => audience);
  return [
    ...validateOptionalChoice(spec.fsGroupPolicy, 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...tokenRequests.flatMap(({ expirationSeconds }, i) => {
      const path = `spec.tokenRequests[${i}]`;
      const audience = audiences[i] ?? '';
      if (audiences.indexOf(audience) < i) return [duplicate(`${path}.audience`, audience)];
      return validateExpiration(expirationSeconds, `${path}.expirationSeconds`);
    }),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) =>
      validateOptionalChoice(mode, 'spec.volumeLifecycleModes', ['Persistent', 'Ephemeral']),
    ),
    ...(period !== undefined && period < UPDATE_PERIOD_MIN_SECONDS
      ? [
          invalid(
            'spec.nodeAllocatableUpdatePeriodSeconds',
            period,
            `must be greater than or equal to ${UPDATE_PERIOD_MIN_SECONDS} seconds`,
          ),
        ]
      : []),
    ...(inSecrets !== undefined && tokenRequests.length === 0
      ? [invalid('spec.serviceAccountTokenInSecrets', inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified')]
      : []),
  ];
}

function validateExpiration(seconds: number | undefined, path: string): FieldError[] {
  if (seconds === undefined) return [];
  if (seconds < TOKEN_MIN_SECONDS) return [invalid(path, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > TOKEN_MAX_SECONDS ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
}
