/**
 * What Kubernetes v1.36 adds to CEL for every expression: extensions of cel-go (strings 2, sets, lists 3, two-variable comprehensions) and
 * its own libraries.
 */
const SORTABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const SUMMABLE = ['int', 'uint', 'double', 'duration'];

const EXTENSIONS = [
  'string.charAt(int): string',
  ...['indexOf', 'lastIndexOf'].flatMap((name) => [`string.${name}(string): int`, `string.${name}(string, int): int`]),
  ...['lowerAscii', 'upperAscii', 'trim'].map((name) => `string.${name}(): string`),
  'string.replace(string, string): string',
  'string.replace(string, string, int): string',
  'string.split(string): list<string>',
  'string.split(string, int): list<string>',
  'string.substring(int): string',
  'string.substring(int, int): string',
  'string.format(list<dyn>): string',
  'strings.quote(string): string',
  'list<string>.join(): string',
  'list<string>.join(string): string',
  ...['contains', 'equivalent', 'intersects'].map((name) => `sets.${name}(list<T>, list<T>): bool`),
  'list<T>.slice(int, int): list<T>',
  'list<list<T>>.flatten(): list<T>',
  'list<dyn>.flatten(int): list<dyn>',
  ...SORTABLE.map((type) => `list<${type}>.sort(): list<${type}>`),
  ...SORTABLE.map((type) => `list<T>.@sortByAssociatedKeys(list<${type}>): list<T>`),
  'lists.range(int): list<int>',
  'list<T>.reverse(): list<T>',
  'list<T>.distinct(): list<T>',
  'cel.@mapInsert(map<K, V>, K, V): map<K, V>',
  'cel.@mapInsert(map<K, V>, map<K, V>): map<K, V>',
];

const LISTS = [
  ...SORTABLE.flatMap((type) => [`list<${type}>.isSorted(): bool`, `list<${type}>.max(): ${type}`, `list<${type}>.min(): ${type}`]),
  ...SUMMABLE.map((type) => `list<${type}>.sum(): ${type}`),
  'list<A>.indexOf(A): int',
  'list<A>.lastIndexOf(A): int',
];

const TEXTS = [
  'string.find(string): string',
  'string.findAll(string): list<string>',
  'string.findAll(string, int): list<string>',
  'url(string): kubernetes.URL',
  'isURL(string): bool',
  ...['Scheme', 'Host', 'Hostname', 'Port', 'EscapedPath'].map((part) => `kubernetes.URL.get${part}(): string`),
  'kubernetes.URL.getQuery(): map<string, list<string>>',
  'ip(string): net.IP',
  'isIP(string): bool',
  'ip.isCanonical(string): bool',
  'net.IP.family(): int',
  ...['Unspecified', 'Loopback', 'LinkLocalMulticast', 'LinkLocalUnicast', 'GlobalUnicast'].map((kind) => `net.IP.is${kind}(): bool`),
  'string(net.IP): string',
  'cidr(string): net.CIDR',
  'isCIDR(string): bool',
  ...['containsIP', 'containsCIDR'].map((name) => `net.CIDR.${name}(string): bool`),
  'net.CIDR.containsIP(net.IP): bool',
  'net.CIDR.containsCIDR(net.CIDR): bool',
  'net.CIDR.ip(): net.IP',
  'net.CIDR.prefixLength(): int',
  'net.CIDR.masked(): net.CIDR',
  'string(net.CIDR): string',
];

const comparison = (type: string): string[] => [
  `${type}.isGreaterThan(${type}): bool`,
  `${type}.isLessThan(${type}): bool`,
  `${type}.compareTo(${type}): int`,
];

const AMOUNTS = [
  'quantity(string): kubernetes.Quantity',
  'isQuantity(string): bool',
  'sign(kubernetes.Quantity): int',
  ...comparison('kubernetes.Quantity'),
  'kubernetes.Quantity.asApproximateFloat(): double',
  'kubernetes.Quantity.asInteger(): int',
  'kubernetes.Quantity.isInteger(): bool',
  ...['add', 'sub'].flatMap((name) =>
    ['kubernetes.Quantity', 'int'].map((type) => `kubernetes.Quantity.${name}(${type}): kubernetes.Quantity`),
  ),
  'semver(string): kubernetes.Semver',
  'semver(string, bool): kubernetes.Semver',
  'isSemver(string): bool',
  'isSemver(string, bool): bool',
  ...comparison('kubernetes.Semver'),
  ...['major', 'minor', 'patch'].map((part) => `kubernetes.Semver.${part}(): int`),
];

const FORMATS =
  'dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix dns1035LabelPrefix labelValue uri uuid byte date datetime';

const FORMATS_AND_ACCESS = [
  ...FORMATS.split(' ').map((name) => `format.${name}(): kubernetes.NamedFormat`),
  'format.named(string): optional<kubernetes.NamedFormat>',
  'kubernetes.NamedFormat.validate(string): optional<list<string>>',
  'kubernetes.authorization.Authorizer.path(string): kubernetes.authorization.PathCheck',
  'kubernetes.authorization.Authorizer.group(string): kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.Authorizer.serviceAccount(string, string): kubernetes.authorization.Authorizer',
  'kubernetes.authorization.GroupCheck.resource(string): kubernetes.authorization.ResourceCheck',
  ...['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'].map(
    (name) => `kubernetes.authorization.ResourceCheck.${name}(string): kubernetes.authorization.ResourceCheck`,
  ),
  ...['PathCheck', 'ResourceCheck'].map((check) => `kubernetes.authorization.${check}.check(string): kubernetes.authorization.Decision`),
  ...['errored', 'allowed'].map((name) => `kubernetes.authorization.Decision.${name}(): bool`),
  ...['error', 'reason'].map((name) => `kubernetes.authorization.Decision.${name}(): string`),
];

export const KUBERNETES_FUNCTIONS: readonly string[] = [...EXTENSIONS, ...LISTS, ...TEXTS, ...AMOUNTS, ...FORMATS_AND_ACCESS];
