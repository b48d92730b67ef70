import { invalid as invalidField, notSupported, type FieldError } from '../apimachinery/field-error.ts';
import type { Query } from '../request/request.ts';
import { badRequest, invalid, type StatusError } from '../apimachinery/status-error.ts';

/** Query options of create, update and patch. */
export type WriteOptions = {
  readonly dryRun: boolean;
  /** '' when the request names none. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean | undefined;
};

const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];
const FIELD_MANAGER_MAX_BYTES = 128;

/** Reads and validates Create-, Update- or PatchOptions, with apimachinery's refusals. */
export function readWriteOptions(query: Query, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions', isApply = false): WriteOptions {
  const fieldManager = query.get('fieldManager');
  const fieldValidation = query.get('fieldValidation');
  const force = query.has('force') ? query.flag('force') : undefined;
  const errors: FieldError[] = [
    ...(kind === 'PatchOptions' ? patchErrors(fieldManager, force, isApply) : []),
    ...fieldManagerErrors(fieldManager),
    ...dryRunErrors(query.getAll('dryRun')),
    ...(FIELD_VALIDATIONS.includes(fieldValidation) ? [] : [notSupported('fieldValidation', fieldValidation, FIELD_VALIDATIONS)]),
  ];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: query.getAll('dryRun').includes('All'),
    fieldManager,
    fieldValidation: fieldValidation === 'Ignore' || fieldValidation === 'Strict' ? fieldValidation : 'Warn',
    force,
  };
}

const patchErrors = (fieldManager: string, force: boolean | undefined, isApply: boolean): FieldError[] => {
  if (!isApply)
    return force === undefined
      ? []
      : [{ type: 'FieldValueForbidden', field: 'force', body: 'Forbidden: may not be specified for non-apply patch' }];
  return fieldManager === ''
    ? [{ type: 'FieldValueRequired', field: 'fieldManager', body: 'Required value: is required for apply patch' }]
    : [];
};

export const fieldManagerErrors = (manager: string): FieldError[] => {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > FIELD_MANAGER_MAX_BYTES) {
    errors.push({
      type: 'FieldValueTooLong',
      field: 'fieldManager',
      body: `Too long: may not be more than ${FIELD_MANAGER_MAX_BYTES} bytes`,
    });
  }
  // Upstream wants printable characters (unicode.IsPrint), plain space included.
  let position = 0;
  for (const character of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalidField('fieldManager', manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
};

export const dryRunErrors = (values: readonly string[]): FieldError[] =>
  values.some((value) => value !== 'All')
    ? [notSupported('dryRun', values, ['All'])].map((error) => ({ ...error, body: dryRunBody(values) }))
    : [];

/** The value is a list of strings, which the message shows as Go prints it. */
const dryRunBody = (values: readonly string[]): string => `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;

const INT64_MAX = 2n ** 63n - 1n;

/** An integer of a query; a text that is none is refused in Go's words, the empty one too. */
export function readInteger(query: Query, name: string): number | undefined {
  if (!query.has(name)) return undefined;
  const text = query.get(name);
  const refuse = (why: string): StatusError => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw refuse('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw refuse('value out of range');
  return Number(value);
}

/** True for a text that strconv.ParseUint takes. */
export const isUnsigned = (text: string): boolean => /^\d+$/.test(text) && Number(text) <= 2 ** 64;

/** The words of a resourceVersion that is no number. */
export const resourceVersionSyntax = (text: string): string =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
