import { expect, test } from 'vitest';
import { containerFiles, podDirectory } from '../../../../../../shared/controlplane/controllers/node-agent/pod-directory.ts';

const pod = { metadata: { namespace: 'default', name: 'web', uid: 'u-1' } };

test('two pods of one name lie apart by their UIDs', () => {
  expect(podDirectory('/var', pod)).toBe('/var/default_web_u-1');
  expect(podDirectory('/var', { metadata: { ...pod.metadata, uid: 'u-2' } })).toBe('/var/default_web_u-2');
});

test('each run of a container has a log and a termination message of its own, and all share its working directory', () => {
  expect(containerFiles('/var', pod, 'main', 0)).toEqual({
    log: '/var/default_web_u-1/main/0.log',
    terminationMessage: '/var/default_web_u-1/main/0.termination-message',
    home: '/var/default_web_u-1/main/home',
  });
  expect(containerFiles('/var', pod, 'main', 1)).toMatchObject({
    log: '/var/default_web_u-1/main/1.log',
    home: '/var/default_web_u-1/main/home',
  });
});
