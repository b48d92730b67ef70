import { VIEW_SCHEMAS, viewRoutes, type OpenDashboard } from './dashboard-routes.ts';
import { HISTORY_SCHEMAS, historyRoutes, type HistoryReader } from './history-routes.ts';
import { openApiOf } from './openapi.ts';
import { serveApi, type ApiServer, type ApiServerDeps } from './server.ts';
import { SUBMISSION_SCHEMAS, submissionRoutes, type PortOf } from './submission-routes.ts';

export type ServeSubmissionsDeps = Omit<ApiServerDeps, 'routes' | 'openApi'> & {
  readonly portOf: PortOf;
  /** Opens the views of a user, as on the dashboard; absent: none are served. */
  readonly open?: OpenDashboard;
  /** Absent: no history is stored, or none is served. */
  readonly history?: HistoryReader;
};

/** Serves submissions, history and views of Jobs, queues and clusters, and their one OpenAPI document. */
export function serveSubmissions(address: string, { portOf, open, history, ...deps }: ServeSubmissionsDeps): Promise<ApiServer> {
  const routes = [
    ...submissionRoutes(portOf),
    ...(history === undefined ? [] : historyRoutes(history)),
    ...(open === undefined ? [] : viewRoutes(open)),
  ];
  const schemas = {
    ...SUBMISSION_SCHEMAS,
    ...(history === undefined ? {} : HISTORY_SCHEMAS),
    ...(open === undefined ? {} : VIEW_SCHEMAS),
  };
  return serveApi(address, { ...deps, routes, openApi: openApiOf(routes, schemas) });
}
