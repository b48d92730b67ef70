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
