/**
 * Goal: `npm run release -- --dry-run` makes all that a release consists of, and the same bytes each time; the sources stay as they are.
 * The whole with SWITCHYARD_SLOW=1.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { helm } from '../support/helm.ts';
import { isSlow } from '../support/slow.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const LIMIT_MS = 300_000;
const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-release-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const release = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release/main.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
  return { status, stdout, stderr };
};
const inSources = (): string => execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });

test.runIf(!isSlow)('a whole release', ({ skip }) => skip('it takes half a minute: SWITCHYARD_SLOW=1'));
test.runIf(isSlow)(
  'a dry run makes package, plugin, charts, bill of materials, changes and sums, and twice the same',
  { timeout: LIMIT_MS },
  () => {
    const before = inSources();
    const made = ['one', 'two'].map((name) => {
      const into = path.join(folder, name);
      const run = release('--version', '9.9.9', '--dry-run', '--into', into);
      expect({ status: run.status, stderr: run.stderr.replace(/^npm warn .*\n/gm, '') }).toEqual({ status: 0, stderr: '' });
      expect(run.stdout).toContain('$ helm push switchyard-manager-9.9.9.tgz oci://ghcr.io/switchyard/charts');
      expect(run.stdout).toContain('$ cosign sign-blob');
      return into;
    });
    const [one = '', two = ''] = made;
    expect(readdirSync(one).toSorted()).toEqual([
      'CHANGES.md',
      'SHA256SUMS',
      'install-worker.yaml',
      'install.yaml',
      'kubectl-switchyard-9.9.9.tar.gz',
      'sbom.cdx.json',
      'switchyard-9.9.9.tgz',
      'switchyard-manager-9.9.9.tgz',
      'switchyard-worker-9.9.9.tgz',
      'switchyard.yaml',
    ]);
    expect(readFileSync(path.join(two, 'SHA256SUMS'), 'utf8')).toBe(readFileSync(path.join(one, 'SHA256SUMS'), 'utf8'));
    for (const into of made) execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: into });
    for (const chart of ['manager', 'worker'])
      expect(helm('show', 'chart', path.join(one, `switchyard-${chart}-9.9.9.tgz`))).toMatch(
        /^appVersion: "?9\.9\.9"?[\s\S]*^version: 9\.9\.9$/m,
      );
    expect(readFileSync(path.join(one, 'install.yaml'), 'utf8')).toMatch(/image: \S+switchyard:9\.9\.9$/m);
    expect(execFileSync('tar', ['-xOzf', path.join(one, 'switchyard-9.9.9.tgz'), 'package/package.json'], { encoding: 'utf8' })).toContain(
      '"9.9.9"',
    );
    const plugin = path.join(one, 'kubectl-switchyard-9.9.9.tar.gz');
    expect(readFileSync(path.join(one, 'switchyard.yaml'), 'utf8')).toContain(
      createHash('sha256').update(readFileSync(plugin)).digest('hex'),
    );
    mkdirSync(path.join(folder, 'krew'));
    execFileSync('tar', ['-xzf', plugin], { cwd: path.join(folder, 'krew') });
    expect(readdirSync(path.join(folder, 'krew')).toSorted()).toEqual(['LICENSE', 'THIRD-PARTY-NOTICES.txt', 'kubectl-switchyard.mjs']);
    expect(execFileSync(path.join(folder, 'krew', 'kubectl-switchyard.mjs'), ['--version'], { encoding: 'utf8' })).toBe('9.9.9\n');
    expect(JSON.parse(readFileSync(path.join(one, 'sbom.cdx.json'), 'utf8'))).toMatchObject({
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      metadata: { component: { name: 'switchyard' } },
    });
    expect(inSources()).toBe(before);
  },
);

test('it refuses versions that cannot follow, and to publish what is only tried', () => {
  expect(release('--dry-run')).toMatchObject({ status: 2, stderr: expect.stringContaining('--version is missing') });
  expect(release('--version', '0.0.1', '--dry-run')).toMatchObject({ status: 2, stderr: expect.stringContaining('is older than') });
  expect(release('--version', '9.9.9', '--dry-run', '--publish')).toMatchObject({ status: 2, stdout: '' });
});
