/**
 * Goal: docs/joining.md: a cluster joins by one command or by objects alone, GitOps may apply these as often as it likes, and the manager
 * looks after the token from then on.
 */
import { expect, test } from 'vitest';
import { SECRETS } from '../../../shared/api/resources.ts';
import { canInstall, startInstallation, type ClusterName } from '../../support/installation.ts';
import { startLongJob, until } from '../../support/installed-jobs.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;
const LIFE_MS = 600_000;

test.skipIf(!isSlow || !canInstall())(
  'one cluster joins by a command and another by objects, and their tokens are renewed',
  { timeout: LIMIT_MS },
  async () => {
    await using installation = await startInstallation();
    const { home } = installation.clusters;
    await installation.follow('docs/install.md', ['What you need', 'The workers', 'The manager', 'Quota']);
    // The day that the tokens of the document are good for is more than twice this, so that they are replaced at once.
    const life =
      'helm upgrade switchyard-manager charts/switchyard-manager --namespace switchyard --reuse-values --set config.workerTokenLife=10m';
    expect(await installation.sh(`${life} --kube-context "$HOME_CLUSTER"`)).toMatchObject({ code: 0 });

    await installation.follow('docs/joining.md');
    const secretOf = async (cluster: ClusterName) =>
      (await home.client.get(SECRETS, { namespace: 'switchyard', name: `${cluster}-kubeconfig` })).data ?? {};
    const endsMs = async (cluster: ClusterName): Promise<number> => {
      const text = Buffer.from((await secretOf(cluster))['kubeconfig.renewed'] ?? '', 'base64').toString() || '{"token":".."}';
      const { token } = JSON.parse(text) as { token: string };
      const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{"exp":0}';
      return (JSON.parse(claims) as { exp: number }).exp * 1000;
    };
    const reader = [
      'kubectl create serviceaccount scraper --namespace switchyard --context "$HOME_CLUSTER"',
      'kubectl create clusterrolebinding scraper --clusterrole switchyard-manager-metrics-reader --serviceaccount switchyard:scraper --context "$HOME_CLUSTER"',
    ];
    for (const command of reader) expect(await installation.sh(command)).toMatchObject({ code: 0 });
    const token = (await installation.sh('kubectl create token scraper --namespace switchyard --context "$HOME_CLUSTER"')).output.trim();
    const metrics = async (): Promise<string> => {
      const url = `http://${home.kubelet.podOf('switchyard', 'switchyard-manager')?.address('metrics')}/metrics`;
      return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text();
    };
    for (const cluster of ['east', 'west'] as const) {
      await until(
        `the token of ${cluster} was renewed`,
        async () => Math.abs((await endsMs(cluster)) - Date.now() - LIFE_MS) < LIFE_MS / 2,
      );
      const used = `switchyard_worker_token_expires_seconds{cluster="${cluster}"} ${(await endsMs(cluster)) / 1000}`;
      await until(`the renewed token of ${cluster} is the one that is used`, async () => (await metrics()).includes(used));
    }

    // GitOps puts back what it has been given, and the renewed token stays beside it.
    const before = await secretOf('west');
    expect(Object.keys(before).toSorted()).toEqual(['kubeconfig', 'kubeconfig.renewed']);
    const again = await installation.sh('kubectl apply --context "$HOME_CLUSTER" --filename "$MANIFESTS/$CLUSTER.yaml"');
    expect(again.output).toContain('workercluster.switchyard.dev/west unchanged');
    expect(await secretOf('west')).toEqual(before);
    for (const cluster of ['east', 'west'] as const) {
      const job = await startLongJob(installation, `on-${cluster}`, cluster);
      job.letEnd();
      await job.complete();
    }
  },
);
