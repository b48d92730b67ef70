import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import type { PlacedContainer } from './containers.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';

type WindowsOptions = NonNullable<NonNullable<DecodedContainer['securityContext']>['windowsOptions']>;

const CREDENTIAL_SPEC_MAX_KIB = 64;
const DOMAIN_MAX = 256;
const USER_MAX = 104;
const NETBIOS_NAME = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DNS_NAME = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);

/** validateWindowsSecurityContextOptions. */
export const validateWindowsOptions = (options: WindowsOptions | undefined, path: string): FieldError[] => {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName } = options;
  return [
    ...(name === undefined
      ? []
      : dns1123SubdomainProblems(name).map((problem) => invalid(`${path}.gmsaCredentialSpecName`, name, problem))),
    ...(spec === undefined ? [] : credentialProblems(spec).map((problem) => invalid(`${path}.gmsaCredentialSpec`, spec, problem))),
    ...(runAsUserName === undefined
      ? []
      : userProblems(runAsUserName).map((problem) => invalid(`${path}.runAsUserName`, runAsUserName, `runAsUserName${problem}`))),
  ];
};

const credentialProblems = (spec: string): string[] => {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string'];
  return Buffer.byteLength(spec) > CREDENTIAL_SPEC_MAX_KIB * 1024
    ? [`gmsaCredentialSpec size must be under ${CREDENTIAL_SPEC_MAX_KIB} KiB`]
    : [];
};

/** What follows the name of the field. */
const userProblems = (name: string): string[] => {
  if (name === '') return [' cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return [' cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const problems: string[] = [];
  if (domain !== undefined && domain.length >= DOMAIN_MAX) problems.push(`'s Domain length must be under ${DOMAIN_MAX} characters`);
  if (domain !== undefined && !NETBIOS_NAME.test(domain) && !DNS_NAME.test(domain)) {
    problems.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("'s User cannot be empty");
  else if (user.length > USER_MAX) problems.push(`'s User length must not be longer than ${USER_MAX} characters`);
  if (/^[. ]+$/.test(user)) problems.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) problems.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return problems;
};

/** validateWindowsHostProcessPod: all containers of a pod are of the host, or none, and they have its network. */
export const validateHostProcess = (spec: DecodedPodSpec, path: string, containers: readonly PlacedContainer[]): FieldError[] => {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const errors: FieldError[] = [];
  let count = 0;
  for (const { container, path: at } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const rule = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, rule));
    }
    if (own ?? ofPod ?? false) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length) {
    errors.push(invalid(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  }
  if (spec.hostNetwork !== true) {
    errors.push(invalid(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'));
  }
  return errors;
};
