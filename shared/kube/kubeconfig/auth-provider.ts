import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { AuthProviderConfig } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** What of the library is used. */
type Library = { readonly KubeConfig: typeof KubeConfig };

/**
 * The headers that a legacy auth provider (`oidc`, `gcp`, `azure`) gives. The Kubernetes client library has these providers; it is loaded
 * when the first is needed and nowhere else, because it costs every process that loads it half a second and 60 MiB. Nor is it installed
 * with the programs: it is an optional peer of the package, which a user of such a kubeconfig installs beside it. The result asks the
 * provider again with each call; it remembers its token until that expires.
 */
export async function loadAuthProvider(
  provider: AuthProviderConfig,
  who: string,
  load: () => Promise<Library> = () => import('@kubernetes/client-node'),
): Promise<() => Promise<Record<string, string>>> {
  const at = `${who}: the auth-provider ${JSON.stringify(provider.name)}`;
  const library = await load().catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new KubeconfigError(
      `${at} needs the package @kubernetes/client-node, which does not come with Switchyard; install it beside (npm install @kubernetes/client-node@2, with -g where Switchyard is), or use an exec plugin`,
      { cause: error },
    );
  });
  const config = new library.KubeConfig();
  // The library wants a cluster beside the user; nothing is sent to it.
  const cluster = { name: 'unused', server: 'https://unused.invalid', skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: who, authProvider: { name: provider.name, config: provider.config } });
  return async () => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new KubeconfigError(`${at} gives no credentials; log in anew with its own program, or use an exec plugin`, { cause: error });
    }
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value).trim()] as const);
    if (headers.length === 0)
      throw new KubeconfigError(`${at} is unknown or gives no credentials; use an exec plugin, or a token or client certificate`);
    return Object.fromEntries(headers);
  };
}
