import { invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedContainer } from './decoded.ts';
import { configKeyProblems, dns1123SubdomainProblems, envVarNameProblems, qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import { subdomainName } from '../apimachinery/object-meta-validation.ts';

type EnvVar = NonNullable<DecodedContainer['env']>[number];
type EnvFrom = NonNullable<DecodedContainer['envFrom']>[number];
type ValueSource = NonNullable<EnvVar['valueFrom']>;

/** Field paths that a variable can hold, in the order in which messages list them. */
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
/** Paths that exist without being of use to a variable: they are told apart from unknown ones. */
const OTHER_POD_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];
const CONTAINER_RESOURCES: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
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
  if (source.fieldRef) errors.push(...validateFieldRef(source.fieldRef, `${path}.fieldRef`));
  if (source.resourceFieldRef) errors.push(...validateResourceRef(source.resourceFieldRef.resource ?? '', `${path}.resourceFieldRef`));
  if (source.configMapKeyRef) errors.push(...validateKeyRef(source.configMapKeyRef, `${path}.configMapKeyRef`));
  if (source.secretKeyRef) errors.push(...validateKeyRef(source.secretKeyRef, `${path}.secretKeyRef`));
  const given = Object.values(source).filter((each) => each !== undefined).length;
  if (given === 0) {
    errors.push(invalid(path, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'));
  } else if (value !== '') errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (given > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
};

const validateFieldRef = ({ apiVersion = '', fieldPath = '' }: NonNullable<ValueSource['fieldRef']>, path: string): FieldError[] => {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (fieldPath === '') return [required(`${path}.fieldPath`)];
  const cannotConvert = (why: string): FieldError[] => [invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return cannotConvert(`unsupported pod version: ${apiVersion}`);
  const subscripted = /^(.*)\['(.*)'\]$/.exec(fieldPath);
  if (subscripted !== null) {
    const [, field = '', key = ''] = subscripted;
    if (field === 'metadata.annotations') return validateFormat(key.toLowerCase(), path, qualifiedNameProblems);
    if (field === 'metadata.labels') return validateFormat(key, path, qualifiedNameProblems);
    return cannotConvert(`field label does not support subscript: ${fieldPath}`);
  }
  if (POD_FIELDS.includes(fieldPath)) return [];
  if (OTHER_POD_FIELDS.includes(fieldPath)) return [notSupported(`${path}.fieldPath`, fieldPath, POD_FIELDS)];
  return cannotConvert(`field label not supported: ${fieldPath}`);
};

const validateResourceRef = (resource: string, path: string): FieldError[] => {
  if (resource === '') return [required(`${path}.resource`)];
  if (CONTAINER_RESOURCES.includes(resource) || /^(requests|limits)\.hugepages-/.test(resource)) return [];
  return [notSupported(`${path}.resource`, resource, CONTAINER_RESOURCES)];
};

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
