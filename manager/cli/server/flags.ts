import { FlagError, text, type FlagTable } from '../../../shared/runtime/flags.ts';
import { MANAGER_ADDRESS } from './manager-address.ts';

/** Says that no manager is asked. */
export const NO_SERVER = 'none';

/** The manager's HTTP API, and the token that it knows users by. */
export const SERVER_FLAGS = {
  server: {
    value: 'URL',
    about: `address of the manager’s HTTP API, such as https://switchyard.example:8443; default: that of the ConfigMap ${MANAGER_ADDRESS.namespace}/${MANAGER_ADDRESS.name} of the cluster; ${NO_SERVER}: no manager is asked`,
    parse: httpUrl,
  },
  'server-ca': {
    value: 'FILE',
    about: 'authorities that sign its certificate, PEM; default: those of the ConfigMap, or of the system',
    parse: text,
  },
  'token-file': { value: 'FILE', about: 'bearer token for it; default: that of the kubeconfig', parse: text },
} satisfies FlagTable;

export type ServerChoice = {
  readonly server: string | undefined;
  readonly 'server-ca': string | undefined;
  readonly 'token-file': string | undefined;
};

function httpUrl(given: string): string {
  if (given === NO_SERVER) return given;
  const url = serverUrl(given);
  if (url !== undefined) return url;
  throw new FlagError(`${JSON.stringify(given)} cannot be used: a token goes there; write an https:// URL, or http:// of this machine`);
}

/** The URL without trailing slashes; undefined where a token sent there could be read on the way. */
export function serverUrl(given: string): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url?.protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  return url?.protocol === 'https:' || isPlain ? given.replace(/\/+$/, '') : undefined;
}
