/**
 * Goal: the block of docs/install-in-short.md leads from bare clusters to a Job that has run, on a home cluster and one that runs Jobs.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { canInstall, startInstallation, type Installation } from '../support/installation.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;

describe.skipIf(!canInstall() || !isSlow)('docs/install-in-short.md', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await startInstallation()), LIMIT_MS);
  afterAll(() => installation[Symbol.asyncDispose](), LIMIT_MS);

  test('leads from bare clusters to a Job whose output is read, and a doctor who is content', { timeout: LIMIT_MS }, async () => {
    const [block, ...more] = await installation.follow('docs/install-in-short.md', ['Install in eight commands']);
    expect(more).toEqual([]);
    expect(block?.output).toMatch(/^hello$/m);
    expect(block?.output).toMatch(/^ok +deployment switchyard-manager +2\/2 ready, image registry\.example\/switchyard:0\.1\.0$/m);
    expect(block?.output).not.toMatch(/^wrong/m);
    const { items } = await installation.clusters.home.client.list(JOBS, { namespace: 'default' });
    expect(items.map(({ status }) => hasTrueCondition(status?.conditions, 'Complete'))).toEqual([true]);
  });
});

test.skipIf(canInstall() && isSlow)('what docs/install-in-short.md says to type is typed by the superuser, with a kubectl', ({ skip }) =>
  skip('run npm run test:operations as root, with kubectl on the PATH'),
);
