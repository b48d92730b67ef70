import { HISTORY_SCHEMAS, historyRoutes, type HistoryReader } from './history-routes.ts';
import { openApiOf } from './openapi.ts';
import { serveApi, type ApiServer, type ApiServerDeps } from './server.ts';
import { SUBMISSION_SCHEMAS, submissionRoutes, type PortOf } from './submission-routes.ts';

export type ServeSubmissionsDeps = Omit<ApiServerDeps, 'routes' | 'openApi'> & {
  readonly portOf: PortOf;
  /** Absent: no history is stored, or none is served. */
  readonly history?: HistoryReader;
};

/** Serves submissions and history, and their OpenAPI document. */
export function serveSubmissions(address: string, { portOf, history, ...deps }: ServeSubmissionsDeps): Promise<ApiServer> {
  const routes = [...submissionRoutes(portOf), ...(history === undefined ? [] : historyRoutes(history))];
  const schemas = { ...SUBMISSION_SCHEMAS, ...(history === undefined ? {} : HISTORY_SCHEMAS) };
  return serveApi(address, { ...deps, routes, openApi: openApiOf(routes, schemas) });
}
