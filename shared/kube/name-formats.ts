/**
 * Formats of names, labels and keys. Each function returns what is wrong with a value, in upstream's words; an empty list means valid.
 * "characters" and "bytes" in the length complaints are upstream's own inconsistency (util/validation against api/validate/content).
 */

const DNS_1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_1123_SUBDOMAIN = `${DNS_1123_LABEL}(\\.${DNS_1123_LABEL})*`;
const DNS_1123_LABEL_WITH_UNDERSCORE = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const DNS_1123_SUBDOMAIN_WITH_UNDERSCORE = `${DNS_1123_LABEL_WITH_UNDERSCORE}(\\.${DNS_1123_LABEL_WITH_UNDERSCORE})*`;
const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${LABEL_KEY})?`;
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const HTTP_HEADER_NAME = '[-A-Za-z0-9]+';

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const dns1123Label = whole(DNS_1123_LABEL);
const dns1123Subdomain = whole(DNS_1123_SUBDOMAIN);
const dns1123SubdomainWithUnderscore = whole(DNS_1123_SUBDOMAIN_WITH_UNDERSCORE);
const dns1035Label = whole(DNS_1035_LABEL);
const labelKey = whole(LABEL_KEY);
const labelValue = whole(LABEL_VALUE);
const configKey = whole(CONFIG_KEY);
const httpPath = whole(HTTP_PATH);
const httpHeaderName = whole(HTTP_HEADER_NAME);

/** Upstream puts two spaces before "or"; messages are compared letter by letter. */
const mismatch = (rule: string, pattern: string, ...examples: string[]): string =>
  examples.length === 0
    ? `${rule} (regex used for validation is '${pattern}')`
    : `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;

const bytes = (value: string): number => Buffer.byteLength(value);
const moreCharactersThan = (value: string, limit: number): string[] =>
  bytes(value) > limit ? [`must be no more than ${limit} characters`] : [];
const moreBytesThan = (value: string, limit: number): string[] => (bytes(value) > limit ? [`must be no more than ${limit} bytes`] : []);

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const KEY_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export const dns1123LabelProblems = (value: string): string[] => {
  const problems = moreCharactersThan(value, 63);
  if (dns1123Label.test(value)) return problems;
  if (dns1123Subdomain.test(value)) return [...problems, 'must not contain dots'];
  return [...problems, mismatch(LABEL_RULE, DNS_1123_LABEL, 'my-name', '123-abc')];
};

const subdomainMismatch = (value: string): string[] =>
  dns1123Subdomain.test(value) ? [] : [mismatch(SUBDOMAIN_RULE, DNS_1123_SUBDOMAIN, 'example.com')];

/** Search domains may have underscores, which no host name has. */
export const dns1123SubdomainWithUnderscoreProblems = (value: string): string[] => [
  ...moreCharactersThan(value, 253),
  ...(dns1123SubdomainWithUnderscore.test(value)
    ? []
    : [mismatch(SUBDOMAIN_RULE.replace("'-' or", "'_', '-' or"), DNS_1123_SUBDOMAIN_WITH_UNDERSCORE, 'example.com')]),
];

export const dns1123SubdomainProblems = (value: string): string[] => [...moreCharactersThan(value, 253), ...subdomainMismatch(value)];

export const dns1035LabelProblems = (value: string): string[] => [
  ...moreCharactersThan(value, 63),
  ...(dns1035Label.test(value)
    ? []
    : [
        mismatch(
          "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
          DNS_1035_LABEL,
          'my-name',
          'abc-123',
        ),
      ]),
];

/** Label keys and everything else that is called a qualified name: an optional DNS prefix, a slash, a name. */
export const qualifiedNameProblems = (value: string): string[] => {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${mismatch(KEY_RULE, LABEL_KEY, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    for (const problem of [...moreBytesThan(prefix, 253), ...subdomainMismatch(prefix)]) problems.push(`prefix part ${problem}`);
  }
  if (name === '') problems.push('name part must be non-empty');
  else for (const problem of moreBytesThan(name, 63)) problems.push(`name part ${problem}`);
  if (!labelKey.test(name)) problems.push(`name part ${mismatch(KEY_RULE, LABEL_KEY, 'MyName', 'my.name', '123-abc')}`);
  return problems;
};

export const labelValueProblems = (value: string): string[] => [
  ...moreBytesThan(value, 63),
  ...(labelValue.test(value)
    ? []
    : [mismatch(`a valid label must be an empty string or ${KEY_RULE.replace('must ', '')}`, LABEL_VALUE, 'MyValue', 'my_value', '12345')]),
];

/** Keys of ConfigMaps and Secrets: they become file names. */
export const configKeyProblems = (value: string): string[] => [
  ...moreCharactersThan(value, 253),
  ...(configKey.test(value)
    ? []
    : [
        mismatch(
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
          CONFIG_KEY,
          'key.name',
          'KEY_NAME',
          'key-name',
        ),
      ]),
  ...parentDirectoryProblems(value),
];

const parentDirectoryProblems = (value: string): string[] => {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
};

/** Since RelaxedEnvironmentVariableValidation any printable ASCII but `=` may stand in the name of a variable. */
export const envVarNameProblems = (value: string): string[] => [
  ...(value === '' ? ['environment variable name must be non-empty'] : []),
  ...(/^[\x20-\x3c\x3e-\x7e]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]),
];

export const portNameProblems = (value: string): string[] => {
  const problems = moreCharactersThan(value, 15);
  if (!/^[-a-z0-9]+$/.test(value)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) problems.push('must contain at least one letter (a-z)');
  if (value.includes('--')) problems.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
};

export const httpHeaderNameProblems = (value: string): string[] =>
  httpHeaderName.test(value)
    ? []
    : [mismatch("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER_NAME, 'X-Header-Name')];

export const httpPathProblems = (value: string): string[] => (httpPath.test(value) ? [] : [mismatch('Invalid path', HTTP_PATH)]);

/** What any name must satisfy to be one segment of a URL path. A prefix may still become `.` or `..` free of harm. */
export const pathSegmentProblems = (value: string): string[] => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((illegal) => value.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
};
