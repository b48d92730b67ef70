import { expect, test } from 'vitest';
import { defaultPullPolicy } from '../../../../../shared/controlplane/kinds/image-reference.ts';

test.each([
  ['busybox', 'Always'],
  ['busybox:latest', 'Always'],
  ['busybox:1.36', 'IfNotPresent'],
  ['registry:5000/team/app', 'Always'],
  ['registry:5000/team/app:v1', 'IfNotPresent'],
  [`app@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
  [' i ', 'IfNotPresent'],
  ['', 'IfNotPresent'],
])('image %j is pulled %s', (image, policy) => expect(defaultPullPolicy(image)).toBe(policy));
