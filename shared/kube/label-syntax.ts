/**
 * What may stand as a label key and a label value (apimachinery's validation.IsQualifiedName and IsValidLabelValue).
 * Each check returns the sentences of what is wrong; none means valid.
 */

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const NAME_PATTERN = new RegExp(`^${NAME}$`);
const VALUE_PATTERN = new RegExp(`^(${NAME})?$`);
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`);

const NAME_LENGTH_MAX = 63;
const SUBDOMAIN_LENGTH_MAX = 253;

const NAME_HINT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  `(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`;
const VALUE_HINT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
  `an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME})?')`;
const SUBDOMAIN_HINT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with " +
  `an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

const tooLong = (maxBytes: number): string => `must be no more than ${maxBytes} bytes`;

/** Findings about a label or annotation key: an optional DNS subdomain, a slash, a name. */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) return [`a qualified name ${NAME_HINT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) problems.push(...subdomainProblems(prefix).map((each) => `prefix part ${each}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > NAME_LENGTH_MAX) problems.push(`name part ${tooLong(NAME_LENGTH_MAX)}`);
  if (!NAME_PATTERN.test(name)) problems.push(`name part ${NAME_HINT}`);
  return problems;
}

/** Findings about a label value. */
export function labelValueProblems(value: string): string[] {
  const problems: string[] = [];
  if (value.length > NAME_LENGTH_MAX) problems.push(tooLong(NAME_LENGTH_MAX));
  if (!VALUE_PATTERN.test(value)) problems.push(VALUE_HINT);
  return problems;
}

function subdomainProblems(value: string): string[] {
  const problems: string[] = [];
  if (value.length > SUBDOMAIN_LENGTH_MAX) problems.push(tooLong(SUBDOMAIN_LENGTH_MAX));
  if (!SUBDOMAIN_PATTERN.test(value)) problems.push(SUBDOMAIN_HINT);
  return problems;
}
