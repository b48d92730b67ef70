import { openApiOf } from './openapi.ts';
import { serveApi, type ApiServer, type ApiServerDeps } from './server.ts';
import { SUBMISSION_SCHEMAS, submissionRoutes, type DoorOf } from './submission-routes.ts';

export type ServeSubmissionsDeps = Omit<ApiServerDeps, 'routes' | 'openApi' | 'tls'> & { readonly doorOf: DoorOf };

/** Serves submissions, and the document that says how. */
export function serveSubmissions(
  { address, tls }: { readonly address: string; readonly tls?: ApiServerDeps['tls'] },
  { doorOf, ...deps }: ServeSubmissionsDeps,
): Promise<ApiServer> {
  const routes = submissionRoutes(doorOf);
  return serveApi(address, { ...deps, routes, openApi: openApiOf(routes, SUBMISSION_SCHEMAS), ...(tls === undefined ? {} : { tls }) });
}
