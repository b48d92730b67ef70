import { type Environment, Optional } from '@marcbachmann/cel-js';
import { isDate, isDateTime } from './time-syntax.ts';
import type { CostedFormat } from './call-cost.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../kube/name-formats.ts';

/** One named format: `format.dns1123Label()`. */
class Format implements CostedFormat {
  readonly problems: (text: string) => string[];
  readonly regexSize: number;
  constructor(name: string, problems: (text: string) => string[]) {
    this.problems = problems;
    this.regexSize = REGEX_SIZES[name] ?? DNS_LABEL_REGEX;
  }
}
/** The `format` of `format.dns1123Label()`: CEL namespaces are receivers here. */
class Formats {}

const asPrefix = (text: string): string => (text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
const pattern =
  (shape: RegExp, problem: string) =>
  (text: string): string[] =>
    shape.test(text) ? [] : [problem];

const FORMATS: Readonly<Record<string, (text: string) => string[]>> = {
  dns1123Label: dns1123LabelProblems,
  dns1123Subdomain: dns1123SubdomainProblems,
  dns1035Label: dns1035LabelProblems,
  qualifiedName: qualifiedNameProblems,
  dns1123LabelPrefix: (text) => dns1123LabelProblems(asPrefix(text)),
  dns1123SubdomainPrefix: (text) => dns1123SubdomainProblems(asPrefix(text)),
  dns1035LabelPrefix: (text) => dns1035LabelProblems(asPrefix(text)),
  labelValue: labelValueProblems,
  uri: (text) => (text.startsWith('/') || URL.canParse(text) ? [] : ['invalid URI for request']),
  uuid: pattern(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i, 'does not match the UUID format'),
  byte: pattern(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'invalid base64'),
  date: (text) => (isDate(text) ? [] : ['invalid date']),
  datetime: (text) => (isDateTime(text) ? [] : ['invalid datetime']),
};

const DNS_LABEL_REGEX = 30;
/** MaxRegexSize of upstream's formats; the rest are DNS labels. */
const REGEX_SIZES: Readonly<Record<string, number>> = {
  dns1123Subdomain: 60,
  dns1123SubdomainPrefix: 60,
  qualifiedName: 60,
  labelValue: 40,
  uri: 1_103,
  uuid: 72,
  byte: 84,
  date: 72,
  datetime: 72,
};

/** Named formats of Kubernetes; validating gives nothing, or the list of what is wrong. */
export function registerFormatLibrary(environment: Environment): void {
  environment
    .registerType('kubernetes.NamedFormat', { ctor: Format, fields: {} })
    .registerType('kubernetes.Formats', { ctor: Formats, fields: {} })
    .registerConstant('format', 'kubernetes.Formats', new Formats())
    .registerOperator('kubernetes.NamedFormat == kubernetes.NamedFormat', (a: Format, b: Format) => a.problems === b.problems)
    .registerFunction('kubernetes.NamedFormat.validate(string): optional<list<string>>', ({ problems }: Format, text: string) => {
      const found = problems(text);
      return found.length === 0 ? Optional.none() : Optional.of(found);
    })
    .registerFunction('kubernetes.Formats.named(string): optional<kubernetes.NamedFormat>', (_: Formats, name: string) => {
      const problems = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
      return problems === undefined ? Optional.none() : Optional.of(new Format(name, problems));
    });
  for (const [name, problems] of Object.entries(FORMATS)) {
    environment.registerFunction(`kubernetes.Formats.${name}(): kubernetes.NamedFormat`, () => new Format(name, problems));
  }
}
