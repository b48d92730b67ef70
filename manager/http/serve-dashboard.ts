import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { dashboardRoutes, type OpenDashboard } from './dashboard-routes.ts';
import { readStaticFiles } from './read-static-files.ts';
import { serveApi, type ApiServer, type ApiServerDeps } from './server.ts';
import { cookiesOf, signInRoutes } from './sign-in-routes.ts';
import { staticRoutes } from './static-files.ts';

export type ServeDashboardDeps = Pick<ApiServerDeps, 'audit' | 'clock' | 'log' | 'metrics' | 'tls'> & {
  readonly open: OpenDashboard;
  /** Absent: users have tokens, or a proxy names them. */
  readonly signIn?: SignIn;
  /** Folder of the built page. */
  readonly pageFolder: string;
};

/** Room for a thousand names of Jobs. */
const BODY_BYTES_MAX = 128 * 1024;

/** Serves the page and its API. Without a built page it serves the API alone, and logs a warning. */
export async function serveDashboard(
  address: string,
  { open, signIn, pageFolder, clock, log, ...deps }: ServeDashboardDeps,
): Promise<ApiServer> {
  const files = await readStaticFiles(pageFolder).catch((error: unknown) => {
    log.warn('the page of the dashboard has not been built: npm run build:page builds it', { folder: pageFolder, error });
    return [];
  });
  const server = await serveApi(address, {
    ...deps,
    routes: [...dashboardRoutes(signIn === undefined ? open : withSessions(open, signIn)), ...signInRoutes(signIn), ...staticRoutes(files)],
    // No route uses the gate: each checks rights by itself.
    gate: async () => ({ kind: 'Refused', status: 403, why: 'this path is not served' }),
    bodyBytesMax: BODY_BYTES_MAX,
    clock,
    log,
  });
  return {
    ...server,
    async close() {
      await server.close();
      await signIn?.close();
    },
  };
}

/** Sessions count at the dashboard alone: browsers send a cookie to all ports of a host. */
const withSessions =
  (open: OpenDashboard, signIn: SignIn): OpenDashboard =>
  (caller) =>
    open({ ...caller, ...omitUndefined({ session: signIn.session(cookiesOf(caller)) }) });
