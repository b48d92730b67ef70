import { fieldNotFound, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat } from './choice-validation.ts';
import type { PlacedContainer } from './containers.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';
import { validateFieldRef, validateResourceRef } from './downward-validation.ts';
import { validateNoBacksteps } from './path-validation.ts';
import { configKeyProblems, dns1123LabelProblems, dns1123SubdomainProblems, envVarNameProblems } from '../../kube/name-formats.ts';
import { subdomainName } from '../apimachinery/object-meta-validation.ts';

type EnvVar = NonNullable<DecodedContainer['env']>[number];
type EnvFrom = NonNullable<DecodedContainer['envFrom']>[number];
type ValueSource = NonNullable<EnvVar['valueFrom']>;

/** Fields of a pod that a variable can hold, in the order in which messages list them. */
const POD_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

export const validateEnv = (variables: readonly EnvVar[], path: string): FieldError[] =>
  variables.flatMap((variable, i) => [
    ...((variable.name ?? '') === ''
      ? [required(`${path}[${i}].name`)]
      : validateFormat(variable.name ?? '', `${path}[${i}].name`, envVarNameProblems)),
    ...(variable.valueFrom === undefined ? [] : validateValueSource(variable.valueFrom, variable.value ?? '', `${path}[${i}].valueFrom`)),
  ]);

const validateValueSource = (source: ValueSource, value: string, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  if (source.fieldRef) errors.push(...validateFieldRef(source.fieldRef, `${path}.fieldRef`, POD_FIELDS));
  if (source.resourceFieldRef) {
    errors.push(...validateResourceRef(source.resourceFieldRef, `${path}.resourceFieldRef`, { namesContainer: false }));
  }
  if (source.configMapKeyRef) errors.push(...validateKeyRef(source.configMapKeyRef, `${path}.configMapKeyRef`));
  if (source.secretKeyRef) errors.push(...validateKeyRef(source.secretKeyRef, `${path}.secretKeyRef`));
  if (source.fileKeyRef) errors.push(...validateFileKeyRef(source.fileKeyRef, `${path}.fileKeyRef`));
  const given = Object.values(source).filter((each) => each !== undefined).length;
  if (given === 0) {
    errors.push(
      invalid(path, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'),
    );
  } else if (value !== '') errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (given > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
};

const validateFileKeyRef = (
  { key = '', volumeName = '', path: file = '' }: NonNullable<ValueSource['fileKeyRef']>,
  path: string,
): FieldError[] => [
  ...(key === '' ? [required(`${path}.key`)] : validateFormat(key, `${path}.key`, envVarNameProblems)),
  ...(volumeName === '' ? [required(`${path}.volumeName`)] : validateFormat(volumeName, `${path}.volumeName`, dns1123LabelProblems)),
  ...(file === '' ? [required(`${path}.path`)] : validateNoBacksteps(file, `${path}.path`)),
];

/** validateFileKeyRefVolumes: files of variables are in directories that the pod brings along. */
export const validateEnvFiles = (spec: DecodedPodSpec, containers: readonly PlacedContainer[]): FieldError[] =>
  containers.flatMap(({ container, path }) =>
    (container.env ?? []).flatMap(({ valueFrom }, i) => {
      if (valueFrom?.fileKeyRef === undefined) return [];
      const at = `${path}.env[${i}].valueFrom.fileKeyRef.volumeName`;
      const { volumeName = '' } = valueFrom.fileKeyRef;
      const volume = (spec.volumes ?? []).findLast(({ name = '' }) => name === volumeName);
      if (volume === undefined) return [fieldNotFound(at, volumeName)];
      return volume.emptyDir === undefined ? [invalid(at, volumeName, 'referenced volume must be of type emptyDir')] : [];
    }),
  );

const validateKeyRef = ({ name = '', key = '' }: { name?: string | undefined; key?: string | undefined }, path: string): FieldError[] => [
  ...validateFormat(name, `${path}.name`, dns1123SubdomainProblems),
  ...(key === '' ? [required(`${path}.key`)] : validateFormat(key, `${path}.key`, configKeyProblems)),
];

export const validateEnvFrom = (sources: readonly EnvFrom[], path: string): FieldError[] =>
  sources.flatMap(({ prefix = '', configMapRef, secretRef }, i) => {
    const errors = prefix === '' ? [] : validateFormat(prefix, `${path}[${i}].prefix`, envVarNameProblems);
    if (configMapRef) errors.push(...validateReferredName(configMapRef.name, `${path}[${i}].configMapRef.name`));
    if (secretRef) errors.push(...validateReferredName(secretRef.name, `${path}[${i}].secretRef.name`));
    if (!configMapRef && !secretRef) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (configMapRef && secretRef) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
    return errors;
  });

const validateReferredName = (name: string | undefined, path: string): FieldError[] =>
  name === undefined || name === '' ? [required(path)] : validateFormat(name, path, (value) => subdomainName(value, true));
