import { isIPv6 } from 'node:net';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { isDate, isDateTime } from '../../cel/time-syntax.ts';
import type { JsonSchema } from './json-schema.ts';

/** Formats of strings that are checked (strfmt of kube-openapi); all others are noted in a warning and ignored. */
const VALID: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['bsonobjectid', (value) => /^[0-9a-f]{24}$/i.test(value)],
  ['uri', isUri],
  ['email', (value) => /^(?:"[^"]*"\s*<[^\s@]+@[^\s@]+>|[^\s@<>]+@[^\s@<>]+)$/.test(value)],
  ['hostname', (value) => value.length <= 255 && /^([a-zA-Z0-9\p{L}][a-zA-Z0-9\-\p{L}]{0,62}\.?)+$/u.test(value)],
  ['ipv4', (value) => isSloppyIpv4(value) || (isIPv6(value) && value.includes('.') && !value.includes('%'))],
  ['ipv6', (value) => isIPv6(value) && !value.includes('%')],
  ['cidr', isCidr],
  ['mac', (value) => /^([0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\2){4}[0-9a-f]{2}$/i.test(value) || /^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i.test(value)],
  ['uuid', (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(value)],
  ['uuid3', (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(value)],
  ['uuid4', (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(value)],
  ['uuid5', (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(value)],
  ['hexcolor', (value) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)],
  ['rgbcolor', (value) => /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.test(value)],
  ['creditcard', (value) => /^\d{12,19}$/.test(value.replace(/[- ]/g, ''))],
  ['isbn', (value) => /^(?:\d{9}[\dXx]|97[89]\d{10})$/.test(value.replace(/[- ]/g, ''))],
  ['isbn10', (value) => /^\d{9}[\dXx]$/.test(value.replace(/[- ]/g, ''))],
  ['isbn13', (value) => /^97[89]\d{10}$/.test(value.replace(/[- ]/g, ''))],
  ['ssn', (value) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(value)],
  ['password', () => true],
  ['byte', (value) => value !== '' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)],
  ['date', isDate],
  ['datetime', isDateTime],
  [
    'duration',
    (value) =>
      /^-?(?:\d+(?:\.\d+)?\s*(?:ns|us|µs|ms|s|m|h|d|w|nanos?|micros?|millis?|seconds?|minutes?|hours?|days?|weeks?)\s*)+$/.test(value) ||
      value === '0',
  ],
  ['k8sshortname', (value) => dns1123LabelProblems(value).length === 0],
  ['k8slongname', (value) => dns1123SubdomainProblems(value).length === 0],
]);

/** Formats of numbers, by the type that has them. */
const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/** strfmt takes names with or without dashes. */
const formatOf = (name: string): ((value: string) => boolean) | undefined => VALID.get(name.replaceAll('-', ''));

/** The format of a schema if it means anything for its type, else '' (StripUnsupportedFormatsPostProcess). */
export function checkedFormat(schema: JsonSchema): string {
  const { format = '' } = schema;
  const type = schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '');
  const isKnown = type === '' || type === 'string' ? formatOf(format) !== undefined : NUMBER_FORMATS.get(type)?.includes(format) === true;
  return isKnown ? format : '';
}

/** Whether the schema has a format that strings are held to, and whether a string has it. */
export function hasFormat(schema: JsonSchema, value?: string): boolean {
  const isValid = formatOf(checkedFormat(schema));
  return isValid !== undefined && (value === undefined || isValid(value));
}

/** Leading zeros mean nothing, as in Go before 1.17. */
const isSloppyIpv4 = (value: string): boolean => {
  const bytes = value.split('.');
  return bytes.length === 4 && bytes.every((byte) => /^\d+$/.test(byte) && Number(byte) <= 255);
};

function isUri(value: string): boolean {
  return value.startsWith('/') || URL.canParse(value);
}

function isCidr(value: string): boolean {
  const [address = '', bits = ''] = value.split('/');
  const isOfV6 = isIPv6(address) && !address.includes('%');
  return value.split('/').length === 2 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isSloppyIpv4(address) ? 32 : isOfV6 ? 128 : -1);
}
