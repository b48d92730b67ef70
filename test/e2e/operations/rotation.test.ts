/** Goal: docs/operations.md, "Rotate credentials": every one is replaced while a Job runs, which is neither stopped nor admitted anew. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { SECRETS } from '../../../shared/api/resources.ts';
import { canInstall, startInstallation } from '../../support/installation.ts';
import { startLongJob, until } from '../../support/installed-jobs.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;

test.skipIf(!isSlow || !canInstall())(
  'tokens, the password of Redis and the key of records are rotated',
  { timeout: LIMIT_MS },
  async () => {
    await using installation = await startInstallation();
    await installation.install();
    const { home } = installation.clusters;
    const job = await startLongJob(installation, 'long');
    const place = await job.place();
    const undisturbed = async (): Promise<void> => expect([await job.place(), job.starts()]).toEqual([place, 1]);
    const secret = async (name: string): Promise<Readonly<Record<string, string>>> =>
      (await home.client.get(SECRETS, { namespace: 'switchyard', name })).data ?? {};
    const ready = async (): Promise<string> =>
      (await fetch(`http://${home.kubelet.podOf('switchyard', 'switchyard-manager')?.address('metrics')}/readyz`)).text();

    const tokens = await secret('east-kubeconfig');
    await installation.follow('docs/operations.md', ['Rotate the tokens of worker clusters']);
    expect(await secret('east-kubeconfig')).not.toEqual(tokens);
    await undisturbed();

    const admin = new Redis(installation.redis.url);
    const { host } = new URL(installation.redis.url);
    installation.here('the new password holds in Redis beside the old one, and REDIS_URL has the new one', async () => {
      await admin.call('ACL', 'SETUSER', 'default', 'on', '>new-password');
      installation.set('REDIS_URL', `redis://default:new-password@${host}`);
    });
    installation.here('the old password is taken away', async () => {
      await admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>new-password');
    });
    await installation.follow('docs/operations.md', ['Rotate the password of Redis']);
    expect(Buffer.from((await secret('switchyard-redis'))['url'] ?? '', 'base64').toString()).toContain('new-password');
    await until('the manager is content with its Redis', async () => (await ready()) === 'ok');
    await undisturbed();

    const key = await secret('switchyard-manager-record-key');
    await installation.follow('docs/operations.md', ['Rotate the key of records']);
    const after = await secret('switchyard-manager-record-key');
    expect(after['previous']).toBe(key['current']);
    expect(after['current']).not.toBe(key['current']);
    await undisturbed();

    job.letEnd();
    await job.complete();
    expect(job.starts()).toBe(1);
    const next = await startLongJob(installation, 'next');
    next.letEnd();
    await next.complete();
    admin.disconnect();
  },
);
