/**
 * Goal: whoever follows docs/install.md from its top has a running installation at its end: every command of it, in its order, on a home
 * cluster and two worker clusters.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { canInstall, startInstallation, type Installation } from '../support/installation.ts';
import { until } from '../support/installed-jobs.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;

describe.skipIf(!canInstall() || !isSlow)('docs/install.md', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await startInstallation()), LIMIT_MS);
  afterAll(() => installation[Symbol.asyncDispose](), LIMIT_MS);

  test('leads from three empty clusters to a Job that has run, and a doctor who is content', { timeout: LIMIT_MS }, async () => {
    const done = await installation.follow('docs/install.md');
    const under = (heading: string): string =>
      done
        .filter((block) => block.heading === heading)
        .map(({ output }) => output)
        .join('\n');
    expect(under('Joining')).toMatch(/^east +Active +True +True .*\nwest +Active +True +True /m);
    expect(under('The first Job')).toMatch(/^pi +Complete +4\/4 .* (east|west)$/m);
    expect(under('Whether all is well')).not.toMatch(/^wrong/m);
    const { home } = installation.clusters;
    for (const name of ['east', 'west'])
      expect(hasTrueCondition((await home.client.get(WORKER_CLUSTERS, { namespace: '', name })).status?.conditions, 'Ready')).toBe(true);
    expect((await home.client.get(JOBS, { namespace: 'default', name: 'pi' })).status).toMatchObject({ succeeded: 4 });
    // What ran there has gone home, and left nothing.
    for (const name of ['east', 'west'] as const)
      await until(`nothing is left on ${name}`, async () => (await installation.clusters[name].client.list(JOBS)).items.length === 0);
  });
});

test.skipIf(canInstall() && isSlow)('docs/install.md is followed by the superuser, with a kubectl', ({ skip }) =>
  skip('run npm run test:operations as root, with kubectl on the PATH'),
);
