import { forbidden, invalid, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems, dns1123SubdomainWithUnderscoreProblems } from '../../kube/name-formats.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedPodSpec } from './decoded.ts';
import { validateIp } from './ip-validation.ts';

const NAMESERVERS_MAX = 3;
const SEARCH_PATHS_MAX = 32;
const SEARCH_LIST_MAX = 2048;
const HOSTNAME_MAX_BYTES = 64;

/** On the network of the host a port of a container is a port of the host; templates may leave that to the pods made from them. */
export const validateHostPorts = (spec: DecodedPodSpec, path: string, isPod: boolean): FieldError[] => {
  if (spec.hostNetwork !== true) return [];
  return (spec.containers ?? []).flatMap((container, i) =>
    (container.ports ?? []).flatMap(({ hostPort = 0, containerPort = 0 }, j) =>
      (isPod || hostPort !== 0) && hostPort !== containerPort
        ? [invalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
        : [],
    ),
  );
};

/** validatePodDNSConfig. */
export const validateDnsConfig = ({ dnsPolicy, dnsConfig }: DecodedPodSpec, path: string): FieldError[] => {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if ((dnsConfig.nameservers ?? []).length === 0) {
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
    }
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  const tooManySearches = (what: string): FieldError => invalid(`${path}.searches`, searches, `must not have more than ${what}`);
  return [
    ...(nameservers.length > NAMESERVERS_MAX
      ? [invalid(`${path}.nameservers`, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`)]
      : []),
    ...nameservers.flatMap((nameserver, i) => validateIp(nameserver, `${path}.nameservers[${i}]`)),
    ...(searches.length > SEARCH_PATHS_MAX ? [tooManySearches(`${SEARCH_PATHS_MAX} search paths`)] : []),
    ...(Buffer.byteLength(searches.join(' ')) > SEARCH_LIST_MAX
      ? [tooManySearches(`${SEARCH_LIST_MAX} characters (including spaces) in the search list`)]
      : []),
    ...searches.flatMap((search, i) =>
      search === '.' ? [] : validateFormat(search.replace(/\.$/, ''), `${path}.searches[${i}]`, dns1123SubdomainWithUnderscoreProblems),
    ),
    ...options.flatMap(({ name = '' }, i) => (name === '' ? [required(`${path}.options[${i}]`, 'must not be empty')] : [])),
  ];
};

export const validateHostAliases = (aliases: NonNullable<DecodedPodSpec['hostAliases']>, path: string): FieldError[] =>
  aliases.flatMap(({ ip = '', hostnames = [] }, i) => [
    ...validateIp(ip, `${path}[${i}].ip`),
    ...hostnames.flatMap((hostname, j) => validateFormat(hostname, `${path}[${i}].hostnames[${j}]`, dns1123SubdomainProblems)),
  ]);

/** validatePodHostName. */
export const validateHostnameOverride = (spec: DecodedPodSpec, path: string): FieldError[] => {
  const { hostnameOverride: hostname } = spec;
  if (hostname === undefined) return [];
  return [
    ...(spec.setHostnameAsFQDN === true ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(spec.hostNetwork === true ? [forbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(Buffer.byteLength(hostname) > HOSTNAME_MAX_BYTES ? [tooLong(path, HOSTNAME_MAX_BYTES)] : []),
    ...validateFormat(hostname, path, dns1123SubdomainProblems),
  ];
};
