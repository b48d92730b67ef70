import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { publishingSteps } from '../../../../scripts/release/publishing.ts';

test('charts are pushed, then sums, image and charts are signed, and the bill goes with the image', () => {
  const files = [
    'CHANGES.md',
    'SHA256SUMS',
    'sbom.cdx.json',
    'switchyard-1.0.0.tgz',
    'switchyard-manager-1.0.0.tgz',
    'switchyard-worker-1.0.0.tgz',
  ];
  const steps = publishingSteps({ version: '1.0.0', registry: 'registry.example/sy', files });
  expect(steps.map(({ command }) => command.join(' '))).toEqual([
    'helm push switchyard-manager-1.0.0.tgz oci://registry.example/sy/charts',
    'helm push switchyard-worker-1.0.0.tgz oci://registry.example/sy/charts',
    'cosign sign-blob --yes --bundle SHA256SUMS.bundle SHA256SUMS',
    'cosign sign --yes registry.example/sy/switchyard:1.0.0',
    'cosign attest --yes --type cyclonedx --predicate sbom.cdx.json registry.example/sy/switchyard:1.0.0',
    'cosign sign --yes registry.example/sy/charts/switchyard-manager:1.0.0',
    'cosign sign --yes registry.example/sy/charts/switchyard-worker:1.0.0',
  ]);
  expect(steps.every(({ needs, command }) => needs === command[0])).toBe(true);
});

test('docs/security.md tells how to verify each thing that is signed', () => {
  const files = ['switchyard-manager-VERSION.tgz', 'switchyard-worker-VERSION.tgz'];
  const verified = { 'sign-blob': 'verify-blob', sign: 'verify', attest: 'verify-attestation' } as const;
  const expected = publishingSteps({ version: 'VERSION', registry: 'REGISTRY', files }).flatMap(({ needs, command }) =>
    needs === 'cosign' ? [`cosign ${verified[command[1] as keyof typeof verified]} ... ${command.at(-1)}`] : [],
  );
  const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/security.md'), 'utf8');
  const told = page.split('\n').filter((line) => line.startsWith('cosign '));
  expect(told.map((line) => line.replace(/^(cosign \S+) .* (\S+)$/, '$1 ... $2'))).toEqual(expected);
});
