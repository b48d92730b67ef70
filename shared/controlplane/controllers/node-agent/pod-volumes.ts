import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Container, DeepReadonly, Pod } from '../../../api/kubernetes.ts';
import { fieldValue } from './container-environment.ts';
import { podDirectory } from './pod-directory.ts';

type Volume = NonNullable<DeepReadonly<Pod>['spec']['volumes']>[number];

/**
 * Makes the volumes ready that a container mounts: directories of the pod's own (emptyDir), and what they show of the pod (downward API).
 * Others are not made: containers see the files of this machine. Throws in a kubelet's words where a subPath leads nowhere.
 */
export function mountVolumes(root: string, pod: DeepReadonly<Pod>, container: DeepReadonly<Container>): void {
  for (const { name, subPath } of container.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((each) => each.name === name);
    if (volume === undefined || !isMade(volume)) continue;
    const directory = volumeDirectory(root, pod, name);
    mkdirSync(directory, { recursive: true });
    show(directory, pod, volume);
    if (subPath === undefined) continue;
    const target = path.join(directory, subPath);
    try {
      if (!existsSync(target)) mkdirSync(target, { recursive: true });
    } catch {
      throw new Error(`failed to prepare subPath for volumeMount "${name}" of container "${container.name}"`);
    }
  }
}

/** The pod has changed: its volumes that are there show what it is now. */
export function refreshVolumes(root: string, pod: DeepReadonly<Pod>): void {
  for (const volume of pod.spec.volumes ?? []) {
    const directory = volumeDirectory(root, pod, volume.name);
    if (isMade(volume) && existsSync(directory)) show(directory, pod, volume);
  }
}

/** A word of a container's command, with the places of its volumes on this machine. */
export function placeMounts(root: string, pod: DeepReadonly<Pod>, container: DeepReadonly<Container>, word: string): string {
  const mounts = (container.volumeMounts ?? []).filter(({ name }) => {
    const volume = pod.spec.volumes?.find((each) => each.name === name);
    return volume !== undefined && isMade(volume);
  });
  return mounts.reduce((text, { name, mountPath, subPath = '' }) => {
    const place = path.join(volumeDirectory(root, pod, name), subPath);
    return text.replaceAll(new RegExp(`${mountPath.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w.-])`, 'g'), () => place);
  }, word);
}

/** The dot keeps it apart from the directories of containers. */
const volumeDirectory = (root: string, pod: DeepReadonly<Pod>, name: string): string =>
  path.resolve(podDirectory(root, pod), '.volumes', name);

const isMade = (volume: Volume): boolean => volume.emptyDir !== undefined || fieldsOf(volume).length > 0;

const fieldsOf = ({ downwardAPI, projected }: Volume): NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number][] => [
  ...(downwardAPI?.items ?? []),
  ...(projected?.sources ?? []).flatMap((source) => source.downwardAPI?.items ?? []),
];

function show(directory: string, pod: DeepReadonly<Pod>, volume: Volume): void {
  for (const { path: name, fieldRef } of fieldsOf(volume)) {
    if (fieldRef === undefined) continue;
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    // Nobody reads half of it.
    writeFileSync(`${file}.next`, fieldValue(pod, fieldRef.fieldPath));
    renameSync(`${file}.next`, file);
  }
}
