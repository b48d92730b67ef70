import { validateServiceReference, validateWebhookUrl } from '../admission/webhook/webhook-address-validation.ts';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required, tooMany } from '../apimachinery/field-error.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { validateAnyObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import {
  type Crd,
  type CrdNames,
  type CrdSpec,
  type CrdSubresources,
  type CrdVersion,
  hasCondition,
  isShared,
  type PrinterColumn,
} from './crd.ts';
import { readFieldPath } from './field-path.ts';
import { someSchema } from './json-schema.ts';
import { validateCrdSchema } from './schema-validation.ts';

/** ValidateCustomResourceDefinition of apiextensions. */
export const validateCrd = (crd: Crd): FieldError[] => [
  ...validateAnyObjectMeta(crd.metadata, false, (name) => [
    ...dns1123SubdomainProblems(name),
    ...(name === `${crd.spec?.names?.plural ?? ''}.${crd.spec?.group ?? ''}` ? [] : ['must be spec.names.plural+"."+spec.group']),
  ]),
  ...validateSpec(crd.spec ?? {}),
  ...validateStatus(crd),
  ...validateApproval(crd, undefined),
  ...validatePreserve(crd, undefined),
];

/** ValidateCustomResourceDefinitionUpdate of apiextensions. */
export const validateCrdUpdate = (next: Crd, previous: Crd): FieldError[] => [
  ...validateObjectMetaUpdate(next.metadata, previous.metadata),
  ...validateSpec(next.spec ?? {}, versionsWithSameSchema(next.spec ?? {}, previous.spec ?? {})),
  ...(hasCondition(previous, 'Established')
    ? [
        ...immutable(next.spec?.scope, previous.spec?.scope, 'spec.scope'),
        ...immutable(next.spec?.names?.kind, previous.spec?.names?.kind, 'spec.names.kind'),
      ]
    : []),
  ...immutable(next.spec?.group, previous.spec?.group, 'spec.group'),
  ...immutable(next.spec?.names?.plural, previous.spec?.names?.plural, 'spec.names.plural'),
  ...validateStatus(next),
  ...validateApproval(next, previous),
  ...validatePreserve(next, previous),
];

/** What a write of the status may contain. */
export const validateCrdStatusUpdate = (next: Crd, previous: Crd): FieldError[] => [
  ...validateObjectMetaUpdate(next.metadata, previous.metadata),
  ...validateCrdStatus(next),
];

const validateCrdStatus = (crd: Crd): FieldError[] => validateNames(crd.status?.acceptedNames ?? {}, 'status.acceptedNames');

const immutable = (next: unknown, previous: unknown, path: string): FieldError[] =>
  semanticEqual(next, previous) ? [] : [invalid(path, next, 'field is immutable')];

const validateStatus = (crd: Crd): FieldError[] => [
  ...validateCrdStatus(crd),
  ...validateStoredVersions(crd.status?.storedVersions ?? [], crd.spec?.versions ?? []),
];

function validateStoredVersions(stored: readonly string[], versions: readonly CrdVersion[]): FieldError[] {
  const path = 'status.storedVersions';
  if (stored.length === 0) return [invalid(path, null, 'must have at least one stored version')];
  const names = versions.map(({ name }) => name);
  return [
    ...versions.flatMap(({ name = '', storage }) =>
      storage === true && !stored.includes(name) ? [invalid(path, stored, `must have the storage version ${name}`)] : [],
    ),
    ...stored.flatMap((name, i) => {
      const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      return names.includes(name) ? [] : [invalid(`${path}[${i}]`, name, detail)];
    }),
  ];
}

const APPROVAL = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community need the approval annotation. */
function validateApproval(crd: Crd, previous: Crd | undefined): FieldError[] {
  const group = crd.spec?.group ?? '';
  const isProtected = ['k8s.io', 'kubernetes.io'].some((each) => group === each || group.endsWith(`.${each}`));
  if (!isProtected) return [];
  const approval = crd.metadata.annotations?.[APPROVAL] ?? '';
  if (previous !== undefined && (previous.metadata.annotations?.[APPROVAL] ?? '') === approval) return [];
  const path = `metadata.annotations[${APPROVAL}]`;
  if (approval === '') {
    return [
      required(
        path,
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    ];
  }
  if (approval.startsWith('unapproved') || URL.canParse(approval)) return [];
  const detail = `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [invalid(path, approval, detail)];
}

const SCOPES = ['Cluster', 'Namespaced'];

function validateSpec(spec: CrdSpec, unchanged: ReadonlySet<string> = new Set()): FieldError[] {
  const { group = '', scope = '', names = {} } = spec;
  // A required list that is absent is stored as null.
  const versions = spec.versions ?? [];
  const storageVersions = versions.filter(({ storage }) => storage === true).length;
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length;
  return [
    ...validateGroup(group),
    ...(scope === '' ? [required('spec.scope')] : SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)]),
    ...versions.flatMap((version, i) =>
      version.schema?.openAPIV3Schema === undefined ? [required(`spec.versions[${i}].schema.openAPIV3Schema`)] : [],
    ),
    ...(spec.preserveUnknownFields === true && versions.some(hasDefaults)
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : []),
    ...versions.flatMap((version, i) => validateVersion(version, i, versions, unchanged)),
    ...(isUnique ? [] : [invalid('spec.versions', goVersions(versions), 'must contain unique version names')]),
    ...(storageVersions === 1
      ? []
      : [invalid('spec.versions', goVersions(versions), 'must have exactly one version marked as storage version')]),
    ...(['plural', 'singular', 'kind', 'listKind'] as const).flatMap((field) =>
      (names[field] ?? '') === '' ? [required(`spec.names.${field}`)] : [],
    ),
    ...validateNames(names, 'spec.names'),
    ...validateSharedParts(versions, unchanged),
    ...(spec.preserveUnknownFields === true && spec.conversion !== undefined && spec.conversion.strategy !== 'None'
      ? [invalid('spec.conversion.strategy', spec.conversion.strategy ?? '', 'must be None if spec.preserveUnknownFields is true')]
      : []),
    ...validateConversion(spec),
  ];
}

const hasDefaults = ({ schema }: CrdVersion): boolean =>
  schema?.openAPIV3Schema !== undefined && someSchema(schema.openAPIV3Schema, (each) => each.default !== undefined);

/** What was so before may stay so. */
function validatePreserve(crd: Crd, previous: Crd | undefined): FieldError[] {
  if (crd.spec?.preserveUnknownFields !== true || previous?.spec?.preserveUnknownFields === true) return [];
  const remedy = 'set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, `cannot set to true, ${remedy}`)];
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

/** What stays with its version; parts that all versions share are validated once, see validateSharedParts. */
function validateVersion(
  version: CrdVersion,
  index: number,
  versions: readonly CrdVersion[],
  unchanged: ReadonlySet<string>,
): FieldError[] {
  const path = `spec.versions[${index}]`;
  const problems = dns1035LabelProblems(version.name ?? '');
  return [
    ...(problems.length > 0 ? [invalid(`${path}.name`, version.name ?? '', problems.join(','))] : []),
    ...validateDeprecation(version, path),
    ...(isShared(versions, 'schema') ? [] : validateSchemaPart(version, `${path}.schema`, unchanged)),
    ...(isShared(versions, 'subresources') ? [] : validateSubresources(version.subresources, `${path}.subresources`)),
    ...(isShared(versions, 'additionalPrinterColumns') ? [] : validateColumns(version, `${path}.additionalPrinterColumns`)),
    ...(isShared(versions, 'selectableFields') ? [] : validateSelectableFields(version, `${path}.selectableFields`)),
  ];
}

function validateSharedParts(versions: readonly CrdVersion[], unchanged: ReadonlySet<string>): FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  const withAnyStatus: CrdVersion = {
    ...first,
    subresources: versions.some(({ subresources }) => subresources?.status !== undefined) ? { status: {} } : {},
  };
  return [
    ...(isShared(versions, 'schema') ? validateSchemaPart(withAnyStatus, 'spec.validation', unchanged) : []),
    ...(isShared(versions, 'subresources') ? validateSubresources(first.subresources, 'spec.subresources') : []),
    ...(isShared(versions, 'additionalPrinterColumns') ? validateColumns(first, 'spec.additionalPrinterColumns') : []),
    ...(isShared(versions, 'selectableFields') ? validateSelectableFields(first, 'spec.selectableFields') : []),
  ];
}

const validateSchemaPart = ({ name = '', schema, subresources }: CrdVersion, path: string, unchanged: ReadonlySet<string>): FieldError[] =>
  schema?.openAPIV3Schema === undefined
    ? []
    : validateCrdSchema(schema.openAPIV3Schema, subresources?.status !== undefined, `${path}.openAPIV3Schema`, unchanged.has(name));

/** Versions that had the schema before which they have now: their rules may go on costing what they cost. */
function versionsWithSameSchema(next: CrdSpec, previous: CrdSpec): ReadonlySet<string> {
  const before = new Map((previous.versions ?? []).map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
  const same = (next.versions ?? []).filter(
    ({ name, schema }) => before.has(name) && semanticEqual(schema?.openAPIV3Schema, before.get(name)),
  );
  return new Set(same.map(({ name = '' }) => name));
}

function validateDeprecation({ deprecated, deprecationWarning }: CrdVersion, path: string): FieldError[] {
  if (deprecationWarning === undefined) return [];
  const wrong = (detail: string): FieldError => invalid(`${path}.deprecationWarning`, deprecationWarning, detail);
  if (deprecated !== true) return [wrong('can only be set for deprecated versions')];
  const unprintable = /[^\P{C}]/u.exec(deprecationWarning);
  return [
    ...(Buffer.byteLength(deprecationWarning) > 256 ? [wrong('must be <= 256 characters long')] : []),
    ...(deprecationWarning === '' ? [wrong('must not be an empty string')] : []),
    ...(unprintable === null
      ? []
      : [wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable.index}`)]),
  ];
}

function validateSubresources(subresources: CrdSubresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  return [
    ...replicasPath(specReplicasPath, ['.spec.'], 'should be a json path under .spec', `${path}.scale.specReplicasPath`),
    ...replicasPath(statusReplicasPath, ['.status.'], 'should be a json path under .status', `${path}.scale.statusReplicasPath`),
    ...(labelSelectorPath === ''
      ? []
      : replicasPath(
          labelSelectorPath,
          ['.spec.', '.status.'],
          'should be a json path under either .spec or .status',
          `${path}.scale.labelSelectorPath`,
        )),
  ];
}

function replicasPath(text: string, roots: readonly string[], detail: string, path: string): FieldError[] {
  if (text === '') return [required(path)];
  if (!text.startsWith('.')) return [invalid(path, text, 'must be a simple json path starting with .')];
  return roots.some((root) => text.startsWith(root)) ? [] : [invalid(path, text, detail)];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const validateColumns = ({ additionalPrinterColumns = [] }: CrdVersion, path: string): FieldError[] =>
  additionalPrinterColumns.flatMap((column, i) => validateColumn(column, `${path}[${i}]`));

function validateColumn({ name = '', type = '', format = '', jsonPath = '' }: PrinterColumn, path: string): FieldError[] {
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(type === '' ? [required(`${path}.type`, types)] : COLUMN_TYPES.includes(type) ? [] : [invalid(`${path}.type`, type, types)]),
    ...(format === '' || COLUMN_FORMATS.includes(format)
      ? []
      : [invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)]),
    ...(jsonPath === '' ? [required(`${path}.JSONPath`)] : []),
    ...(jsonPath === '' || jsonPath.startsWith('.')
      ? []
      : [invalid(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .')]),
  ];
}

const MAX_SELECTABLE_FIELDS = 8;

function validateSelectableFields({ selectableFields = [], schema }: CrdVersion, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath = '' }] of selectableFields.entries()) {
    const at = `${path}[${i}].jsonPath`;
    if (jsonPath === '') {
      errors.push(required(at));
      continue;
    }
    const found = readFieldPath(jsonPath, schema?.openAPIV3Schema ?? {}, { brackets: false });
    if ('problem' in found) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.problem}`));
      continue;
    }
    if (/^metadata(?:\.|$)/.test(found.path)) errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? '')) {
      const detail = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function validateConversion({ conversion }: CrdSpec): FieldError[] {
  if (conversion === undefined) return [];
  const path = 'spec.conversion';
  const { strategy = '', webhook } = conversion;
  const strategies = ['None', 'Webhook'];
  const errors =
    strategy === ''
      ? [required(`${path}.strategy`)]
      : strategies.includes(strategy)
        ? []
        : [notSupported(`${path}.strategy`, strategy, strategies)];
  const config = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (config !== undefined) errors.push(forbidden(`${path}.webhookClientConfig`, detail));
    if (versions.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, detail));
    return errors;
  }
  const at = `${path}.webhookClientConfig`;
  if (config === undefined) errors.push(required(at, 'required when strategy is set to Webhook'));
  else if ((config.url === undefined) === (config.service === undefined)) {
    errors.push(required(at, 'exactly one of url or service is required'));
  } else if (config.url !== undefined) errors.push(...validateWebhookUrl(config.url, `${at}.url`));
  else errors.push(...validateServiceReference(config.service ?? {}, `${at}.service`));
  return [...errors, ...validateReviewVersions(versions, `${path}.conversionReviewVersions`)];
}

function validateReviewVersions(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors = versions.flatMap((version, i) => {
    if (versions.indexOf(version) < i) return [invalid(`${path}[${i}]`, version, 'duplicate version')];
    return dns1035LabelProblems(version).map((problem) => invalid(`${path}[${i}]`, version, problem));
  });
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalid(path, versions, 'must include at least one of v1, v1beta1'));
  }
  return errors;
}

function validateNames(names: CrdNames, path: string): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  const label = (value: string, at: string): FieldError[] => {
    const problems = dns1035LabelProblems(value);
    return problems.length === 0 ? [] : [invalid(at, value, problems.join(','))];
  };
  const mixedCase = (value: string, at: string): FieldError[] => {
    const problems = value === '' ? [] : dns1035LabelProblems(value.toLowerCase());
    return problems.length === 0 ? [] : [invalid(at, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
  };
  return [
    ...(plural === '' ? [] : label(plural, `${path}.plural`)),
    ...(singular === '' ? [] : label(singular, `${path}.singular`)),
    ...mixedCase(kind, `${path}.kind`),
    ...mixedCase(listKind, `${path}.listKind`),
    ...(names.shortNames ?? []).flatMap((each, i) => label(each, `${path}.shortNames[${i}]`)),
    ...(kind !== '' && kind === listKind ? [invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same')] : []),
    ...(names.categories ?? []).flatMap((each, i) => label(each, `${path}.categories[${i}]`)),
  ];
}

/** The versions as Go shows its internal structs in a message: shared parts are null there. */
const goVersions = (versions: readonly CrdVersion[]): object[] =>
  versions.map((version) => {
    const own = (part: keyof CrdVersion): unknown => (isShared(versions, part) ? null : (version[part] ?? null));
    return {
      Name: version.name ?? '',
      Served: version.served ?? false,
      Storage: version.storage ?? false,
      Deprecated: version.deprecated ?? false,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema: own('schema'),
      Subresources: own('subresources'),
      AdditionalPrinterColumns: own('additionalPrinterColumns'),
      SelectableFields: own('selectableFields'),
    };
  });
