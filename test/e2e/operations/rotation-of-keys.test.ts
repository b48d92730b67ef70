/**
 * Goal: docs/operations.md, "Rotate credentials", the rest of them: what signs, what is signed with, and what is ended at once because
 * somebody may have read it.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SUBMISSION_QUEUES } from '../../../manager/api/submission-queue.ts';
import { SECRETS } from '../../../shared/api/resources.ts';
import { connect, type Client } from '../../../shared/client/client.ts';
import { canInstall, startInstallation, type ClusterName, type Installation } from '../../support/installation.ts';
import { startLongJob, until, type LongJob } from '../../support/installed-jobs.ts';
import { S3_KEYS, startS3 } from '../../support/s3-server.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;
const TENANT = { name: 'tenant', namespace: 'default' };

test.skipIf(!isSlow || !canInstall())(
  'the webhook’s certificate, tokens that were read, keys of the store and keys of submitters are replaced under a Job that runs',
  { timeout: LIMIT_MS },
  async () => {
    await using installation = await startInstallation();
    await installation.install();
    const { home } = installation.clusters;
    const secret = async (name: string): Promise<Readonly<Record<string, string>>> =>
      (await home.client.get(SECRETS, { namespace: 'switchyard', name })).data ?? {};
    const job = await startLongJob(installation, 'long');
    const place = await job.place();
    const undisturbed = async (): Promise<void> => expect([await job.place(), job.starts()]).toEqual([place, 1]);

    const certificate = async (): Promise<Readonly<Record<string, string>>> =>
      (await home.client.list(SECRETS, { namespace: 'switchyard' })).items.find(({ metadata }) => metadata.name.endsWith('-webhook-tls'))
        ?.data ?? {};
    const first = (await certificate())['tls.crt'];
    await installation.follow('docs/operations.md', ['Rotate the certificate of the webhook']);
    await until('it is back, with a successor', async () => (await certificate())['next.crt'] !== undefined);
    expect((await certificate())['tls.crt']).toBe(first);
    await endsAt(await startLongJob(installation, 'meanwhile'));
    await installation.follow('docs/operations.md', ['End the certificate of the webhook']);
    expect((await certificate())['tls.crt']).not.toBe(first);
    await endsAt(await startLongJob(installation, 'under-another-certificate'));
    await undisturbed();

    const read = await tokensOf(installation);
    await installation.follow('docs/operations.md', ['End the tokens of worker clusters']);
    // An API server remembers for 10 seconds that a token was good.
    for (const cluster of ['east', 'west'] as const)
      await until(`${cluster} refuses the token`, async () => !(await isTaken(installation, cluster, read[cluster])));
    await undisturbed();

    const s3 = await startS3();
    await installation.sh(`kubectl create secret generic switchyard-history-keys --namespace switchyard --context "$HOME_CLUSTER" \
      --from-literal AWS_ACCESS_KEY_ID=${S3_KEYS.accessKeyId} --from-literal AWS_SECRET_ACCESS_KEY='${S3_KEYS.secretAccessKey}'`);
    const store = `--set-string 'history.store=s3://jobs/a?endpoint=${encodeURIComponent(s3.endpoint)}&region=eu'`;
    const upgraded =
      await installation.sh(`helm upgrade switchyard-manager charts/switchyard-manager --namespace switchyard --reuse-values \
      --kube-context "$HOME_CLUSTER" ${store} --set history.credentialsSecret=switchyard-history-keys
      kubectl rollout status deployment/switchyard-manager --context "$HOME_CLUSTER" --namespace switchyard --timeout 3m`);
    expect(upgraded, upgraded.output).toMatchObject({ code: 0 });
    const isKept = async (name: string): Promise<boolean> => [...s3.objects.keys()].some((key) => key.includes(name));
    await endsAt(await startLongJob(installation, 'kept-before'));
    await until('its record is stored', () => isKept('kept-before'));
    installation.here('the store has made a second pair of keys, which AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY hold', async () => {
      s3.keys.set('AKIDSECOND', 'another secret');
      installation.set('AWS_ACCESS_KEY_ID', 'AKIDSECOND');
      installation.set('AWS_SECRET_ACCESS_KEY', 'another secret');
    });
    installation.here('the first pair is taken back', async () => void s3.keys.delete(S3_KEYS.accessKeyId));
    await installation.follow('docs/operations.md', ['Rotate the keys of the store of history']);
    expect(Buffer.from((await secret('switchyard-history-keys'))['AWS_ACCESS_KEY_ID'] ?? '', 'base64').toString()).toBe('AKIDSECOND');
    await endsAt(await startLongJob(installation, 'kept-after'));
    await until('its record is stored, too', () => isKept('kept-after'));
    await undisturbed();

    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    await makeTenant(installation, publicKey.export({ type: 'spki', format: 'pem' }).toString());
    const old = submitter(installation, 'ci-1', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    expect(await old.wait(await old.submit(manifest('by-the-first')))).toMatchObject({ succeeded: 1 });
    installation.here('submitters sign with ci-2.pem', async () => {
      const folder = (await installation.sh('echo "$KEYS"')).output.trim();
      const next = submitter(installation, 'ci-2', readFileSync(path.join(folder, 'ci-2.pem'), 'utf8'));
      const both = await Promise.all([next.submit(manifest('by-the-second')), old.submit(manifest('by-the-first-again'))]);
      expect(await next.wait(both[0])).toMatchObject({ succeeded: 1 });
      expect(await old.wait(both[1])).toMatchObject({ succeeded: 1 });
      await next.close();
    });
    await installation.follow('docs/operations.md', ['Rotate the keys of signed submissions']);
    await until('the queue knows the second key alone', async () => {
      const { spec, status } = await home.client.get(SUBMISSION_QUEUES, TENANT);
      return spec.signing?.keys.length === 1 && status?.conditions?.[0]?.status === 'True';
    });
    await expect(old.submit(manifest('too-late')).then((key) => old.wait(key))).rejects.toThrow(/ci-1|sign/);
    await old.close();

    await undisturbed();
    await endsAt(job);
    await s3.stop();
  },
);

async function endsAt(job: LongJob): Promise<void> {
  job.letEnd();
  await job.complete();
}

type Tokens = Readonly<Record<'east' | 'west', string>>;

/** Those that the kubeconfigs of the Secrets hold. */
async function tokensOf({ clusters }: Installation): Promise<Tokens> {
  const of = async (cluster: ClusterName): Promise<string> => {
    const { data = {} } = await clusters.home.client.get(SECRETS, { namespace: 'switchyard', name: `${cluster}-kubeconfig` });
    const kubeconfig = Buffer.from(data['kubeconfig'] ?? '', 'base64').toString();
    return /"?token"?: "?([^"\s,}]+)/.exec(kubeconfig)?.[1] ?? '';
  };
  return { east: await of('east'), west: await of('west') };
}

async function isTaken(installation: Installation, cluster: string, token: string): Promise<boolean> {
  const { output } = await installation.sh(`kubectl auth whoami --context ${cluster} --token ${token} 2>&1 || true`);
  return output.includes('switchyard-manager-access');
}

async function makeTenant(installation: Installation, publicKey: string): Promise<void> {
  const { client } = installation.clusters.home;
  const spec = { serviceAccountName: 'switchyard-submitter', localQueues: ['batch'], signing: { keys: [{ name: 'ci-1', publicKey }] } };
  const made = await installation.sh(`for kind in serviceaccount role rolebinding; do
    kubectl delete $kind switchyard-submitter --context "$HOME_CLUSTER" --ignore-not-found; done
    kubectl create serviceaccount switchyard-submitter --context "$HOME_CLUSTER"
    kubectl create role switchyard-submitter --verb create,delete --resource jobs.batch --context "$HOME_CLUSTER"
    kubectl create rolebinding switchyard-submitter --role switchyard-submitter --serviceaccount default:switchyard-submitter --context "$HOME_CLUSTER"`);
  expect(made, made.output).toMatchObject({ code: 0 });
  await client.create(SUBMISSION_QUEUES, { metadata: TENANT, spec });
}

const submitter = ({ redis }: Installation, key: string, privateKey: string): Client =>
  connect({
    redis: redis.url,
    prefix: `switchyard:tenant:${TENANT.namespace}`,
    queue: TENANT.name,
    signing: { key, privateKey, queue: `${TENANT.namespace}/${TENANT.name}` },
  });

const manifest = (name: string): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu: '100m' } } }],
      },
    },
  },
});
