import type { ProductionPackage } from './production-packages.ts';

/** The parts of a CycloneDX document that a reader relies on. */
export type BillOfMaterials = {
  bomFormat?: string;
  specVersion?: string;
  serialNumber?: string;
  version?: number;
  metadata?: { timestamp?: string; component?: Component };
  components?: Component[];
  dependencies?: { ref?: string; dependsOn?: string[] }[];
};
type Component = {
  'bom-ref'?: string;
  type?: string;
  name?: string;
  version?: string;
  purl?: string;
  hashes?: { alg?: string; content?: string }[];
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
};

/**
 * The bill of an installation with its development tools, without those. npm's own `--omit=dev` is not used: it also leaves out what
 * programs and tools have in common.
 */
export function withoutTools(bill: BillOfMaterials, packages: readonly ProductionPackage[]): BillOfMaterials {
  const wanted = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const components = (bill.components ?? []).filter(({ name, version }) => wanted.has(`${name}@${version}`));
  const kept = new Set([bill.metadata?.component, ...components].map((each) => each?.['bom-ref']));
  const dependencies = (bill.dependencies ?? [])
    .filter(({ ref }) => kept.has(ref))
    .map((each) => ({ ...each, dependsOn: (each.dependsOn ?? []).filter((ref) => kept.has(ref)) }));
  return { ...bill, components, dependencies };
}

/** What is wrong with a bill of materials: with its form (CycloneDX 1.5), or with what it says of the packages. */
export function problemsOf(bill: BillOfMaterials, packages: readonly ProductionPackage[]): string[] {
  const { components = [], metadata = {} } = bill;
  return [
    ...formProblems(bill),
    ...components.flatMap(componentProblems),
    ...contentProblems(components, packages),
    ...graphProblems(bill, metadata),
  ];
}

const UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function formProblems({ bomFormat, specVersion = '', serialNumber = '', version, metadata = {} }: BillOfMaterials): string[] {
  const { timestamp = '', component } = metadata;
  return [
    ...(bomFormat === 'CycloneDX' ? [] : [`bomFormat is ${bomFormat}`]),
    ...(['1.5', '1.6', '1.7'].includes(specVersion) ? [] : [`specVersion is ${specVersion}`]),
    ...(UUID.test(serialNumber) ? [] : [`serialNumber ${serialNumber} is no URN of a UUID`]),
    ...(Number.isInteger(version) && Number(version) >= 1 ? [] : [`version is ${version}`]),
    ...(TIMESTAMP.test(timestamp) ? [] : [`metadata.timestamp ${timestamp} is no time`]),
    ...(component?.type === 'application' && (component.name ?? '') !== '' && (component['bom-ref'] ?? '') !== ''
      ? []
      : ['metadata.component does not say which application this is']),
  ];
}

function componentProblems({ 'bom-ref': ref = '', type, name = '', version = '', purl = '', licenses = [] }: Component): string[] {
  const at = `component ${ref || name}`;
  const isStated = ({ license, expression }: (typeof licenses)[number]): boolean => Boolean(license?.id ?? license?.name ?? expression);
  return [
    ...(ref === '' || name === '' || version === '' ? [`${at} lacks bom-ref, name or version`] : []),
    ...(type === 'library' ? [] : [`${at} is of type ${type}`]),
    ...(purl === purlOf(name, version) ? [] : [`${at} has the purl ${purl}`]),
    ...(licenses.length > 0 && licenses.every(isStated) ? [] : [`${at} states no licence`]),
  ];
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** Every package, with the hash of the lock file, and nothing else. */
function contentProblems(components: readonly Component[], packages: readonly ProductionPackage[]): string[] {
  const byName = new Map(components.map((component) => [`${component.name}@${component.version}`, component]));
  const wanted = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  return [
    ...packages.flatMap(({ name, version, integrity }) => {
      const component = byName.get(`${name}@${version}`);
      if (component === undefined) return [`${name}@${version} is missing`];
      const hashes = (component.hashes ?? []).map(({ content }) => content);
      return hashes.includes(hexOf(integrity)) ? [] : [`${name}@${version} has not the hash of the lock file`];
    }),
    ...[...byName.keys()].filter((name) => !wanted.has(name)).map((name) => `${name} is not installed with the programs`),
    ...(byName.size === components.length ? [] : ['a component is there twice']),
  ];
}

const hexOf = (integrity: string): string => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');

/** Every reference leads somewhere, and everything but the application is needed by something. */
function graphProblems(
  { components = [], dependencies = [] }: BillOfMaterials,
  { component }: NonNullable<BillOfMaterials['metadata']>,
): string[] {
  const known = new Set([component, ...components].map((each) => each?.['bom-ref'] ?? ''));
  const refs = dependencies.map(({ ref = '' }) => ref);
  const needed = dependencies.flatMap(({ dependsOn = [] }) => dependsOn);
  return [
    ...[...new Set([...refs, ...needed])].filter((ref) => !known.has(ref)).map((ref) => `dependencies name ${ref}, which is no component`),
    ...(new Set(refs).size === refs.length ? [] : ['dependencies name something twice']),
    ...[...known].filter((ref) => !refs.includes(ref)).map((ref) => `dependencies do not name ${ref}`),
    ...components
      .map((each) => each['bom-ref'] ?? '')
      .filter((ref) => !needed.includes(ref))
      .map((ref) => `nothing needs ${ref}`),
  ];
}
