import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Pod } from '../../../../../../shared/api/kubernetes.ts';
import { mountVolumes, placeMounts, refreshVolumes } from '../../../../../../shared/controlplane/controllers/node-agent/pod-volumes.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'pod-volumes-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const MAIN = {
  name: 'main',
  volumeMounts: [
    { name: 'scratch', mountPath: '/scratch' },
    { name: 'scratch', mountPath: '/half', subPath: 'gate/open' },
    { name: 'told', mountPath: '/told' },
    { name: 'secret', mountPath: '/secret' },
  ],
};
const aPod = (mood: string): Pod => ({
  metadata: { name: 'p', namespace: 'team', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations: { mood } },
  spec: {
    containers: [MAIN],
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'told', downwardAPI: { items: [{ path: 'mood', fieldRef: { fieldPath: "metadata.annotations['mood']" } }] } },
      { name: 'secret', secret: { secretName: 's' } },
    ],
  },
});
const placed = (word: string): string => placeMounts(root, aPod('calm'), MAIN, word);

test('the words of a command lead to the volumes of the pod; other volumes, and longer names, are left as they are', () => {
  mountVolumes(root, aPod('calm'), MAIN);
  expect(existsSync(placed('/scratch'))).toBe(true);
  expect(placed('cat /scratch/a')).toBe(`cat ${placed('/scratch')}/a`);
  expect(placed('/half')).toBe(path.join(placed('/scratch'), 'gate', 'open'));
  expect([placed('/scratchpad'), placed('/secret/key')]).toEqual(['/scratchpad', '/secret/key']);
});

test('a volume of the downward API shows the pod as it is now', () => {
  refreshVolumes(root, aPod('calm'));
  expect(existsSync(placed('/told'))).toBe(false);
  mountVolumes(root, aPod('calm'), MAIN);
  expect(readFileSync(placed('/told/mood'), 'utf8')).toBe('calm');
  refreshVolumes(root, aPod('merry'));
  expect(readFileSync(placed('/told/mood'), 'utf8')).toBe('merry');
});

test('a subPath through a file cannot be mounted, and the container says so', () => {
  mountVolumes(root, aPod('calm'), MAIN);
  const gate = path.join(placed('/scratch'), 'gate');
  rmSync(gate, { recursive: true });
  writeFileSync(gate, '');
  expect(() => mountVolumes(root, aPod('calm'), MAIN)).toThrow('failed to prepare subPath for volumeMount "scratch" of container "main"');
});
