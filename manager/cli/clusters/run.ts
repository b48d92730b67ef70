import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { ExitCode } from '../exit-codes.ts';
import { kindView } from '../get/kinds.ts';
import { runGet, type GetConfig } from '../get/run.ts';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { ManagerHttp } from '../server/manager-http.ts';
import type { ServerChoice } from '../server/flags.ts';
import { ownOrManager } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';

type ClusterState = { readonly name: string; readonly state: string; readonly problem?: string; readonly version?: string };

/** Lists WorkerClusters, or what the manager shows of them, and resolves with the exit code. */
export const runClusters = (config: GetConfig & ServerChoice, session: Session): Promise<number> =>
  withCluster(config, (connection) =>
    ownOrManager(config, connection, {
      own: () => runGet(config, session),
      manager: (manager) => showStates(config, session, manager),
    }),
  );

/** The command `get`, which lists WorkerClusters as {@link runClusters} does. */
export const runGetOrClusters = (config: GetConfig & ServerChoice, session: Session): Promise<number> =>
  (kindView(config.wanted[0]?.word ?? '')?.resources.includes(WORKER_CLUSTERS) === true ? runClusters : runGet)(config, session);

async function showStates({ output, wanted }: GetConfig, session: Session, manager: ManagerHttp): Promise<number> {
  const { body } = await manager.answerTo('GET', '/api/v1/clusters');
  const names = wanted.flatMap((each) => each.names);
  const all = (body as { readonly clusters: readonly ClusterState[] }).clusters;
  const clusters = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  switch (output) {
    case 'json':
      await session.output.write(asJson({ clusters }));
      return ExitCode.Done;
    case 'yaml':
      await session.output.write(asYaml({ clusters }));
      return ExitCode.Done;
    case 'name':
      await session.output.write(clusters.map(({ name }) => `workercluster.switchyard.dev/${plain(name)}\n`).join(''));
      return ExitCode.Done;
    case 'table':
    case 'wide': {
      const rows = clusters.map(({ name, state, version, problem = '' }) => ({ cells: [name, state, version ?? '-'], note: problem }));
      const lines = formatTable({ heads: ['NAME', 'STATE', 'VERSION'], spare: ['VERSION'], rows }, session.output.width);
      await session.output.write((clusters.length === 0 ? ['There are no clusters.'] : lines).map((line) => `${line}\n`).join(''));
      return ExitCode.Done;
    }
  }
}
