import { duplicate, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedVolume } from './decoded.ts';
import { VOLUME_SOURCES, type VolumeOptions } from './volume-source-validation.ts';

/** Names of the volumes in which nothing is wrong: only those can be mounted. */
export type ValidVolumes = ReadonlyMap<string, DecodedVolume>;

/** ValidateVolumes. */
export const validateVolumes = (
  volumes: readonly DecodedVolume[],
  path: string,
  options: VolumeOptions,
): { readonly errors: FieldError[]; readonly valid: ValidVolumes } => {
  const claims = new Set(
    options.podName === '' ? [] : volumes.flatMap(({ name = '', ephemeral }) => (ephemeral ? [`${options.podName}-${name}`] : [])),
  );
  const valid = new Map<string, DecodedVolume>();
  const errors: FieldError[] = [];
  for (const [i, volume] of volumes.entries()) {
    const at = `${path}[${i}]`;
    const found = validateVolume(volume, at, valid, options);
    if (found.length === 0) valid.set(volume.name ?? '', volume);
    errors.push(...found);
    const claimName = volume.persistentVolumeClaim?.claimName ?? '';
    if (claims.has(claimName)) {
      const rule = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.push(invalid(`${at}.persistentVolumeClaim.claimName`, claimName, rule));
    }
  }
  return { errors, valid };
};

const validateVolume = (volume: DecodedVolume, path: string, known: ValidVolumes, options: VolumeOptions): FieldError[] => {
  const { name = '' } = volume;
  return [
    ...validateSource(volume, path, options),
    ...(name === '' ? [required(`${path}.name`)] : validateFormat(name, `${path}.name`, dns1123LabelProblems)),
    ...(known.has(name) ? [duplicate(`${path}.name`, name)] : []),
  ];
};

/** The first source in upstream's order is judged; each further one is one too many. */
const validateSource = (volume: DecodedVolume, path: string, options: VolumeOptions): FieldError[] => {
  const given = VOLUME_SOURCES.filter(({ field }) => volume[field] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((source, i) => [
    ...(i === 0
      ? source.validate(volume, `${path}.${source.path ?? source.field}`, options)
      : [forbidden(`${path}.${source.forbiddenPath ?? source.field}`, 'may not specify more than 1 volume type')]),
    ...(source.field === 'iscsi' ? validateInitiator(volume, path) : []),
    ...(source.field === 'ephemeral' && i === 0 ? validateClaimName(volume, path, options) : []),
  ]);
};

const validateInitiator = ({ name = '', iscsi }: DecodedVolume, path: string): FieldError[] =>
  iscsi?.initiatorName !== undefined && Buffer.byteLength(`${name}:${iscsi.targetPortal ?? ''}`) > 64
    ? [
        invalid(
          `${path}.name`,
          name,
          'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
        ),
      ]
    : [];

/** The claim of an ephemeral volume is called by the names of pod and volume. */
const validateClaimName = ({ name = '' }: DecodedVolume, path: string, { podName }: VolumeOptions): FieldError[] => {
  if (podName === '' || name === '') return [];
  const claim = `${podName}-${name}`;
  return dns1123SubdomainProblems(claim).map((problem) => invalid(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${problem}`));
};
