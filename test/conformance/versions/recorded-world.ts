/** What an installation of some version had stored: every cluster's objects at one moment, in files that people can read. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Backup } from '../../support/memory-persistence.ts';

export type RecordedCluster = {
  readonly revision: number;
  readonly objects: readonly {
    readonly table: string;
    readonly namespace: string;
    readonly name: string;
    readonly revision: number;
    readonly object: unknown;
  }[];
};
export type RecordedWorld = {
  /** Instant of the world's clock. */
  readonly atMs: number;
  readonly clusters: Readonly<Record<string, RecordedCluster>>;
};

/** Tables that whoever installs a version writes anew: of these today's are taken. */
const INSTALLED = /^(apiextensions|rbac|admissionregistration)\b/;

export function recorded(backup: Backup): RecordedCluster {
  const objects = [...backup.objects.values()]
    .filter(({ table }) => !INSTALLED.test(table) && table !== '/events')
    .map(({ text, ...place }) => ({ ...place, object: JSON.parse(text) as unknown }))
    .toSorted((a, b) => a.revision - b.revision);
  return { revision: backup.revision, objects };
}

/** The backup of a cluster that has what was recorded, and of `today` what is installed. */
export function restored(cluster: RecordedCluster, today: Backup): Backup {
  const installed = [...today.objects.values()].filter(({ table }) => INSTALLED.test(table));
  const written = cluster.objects.map(({ object, ...place }) => ({ ...place, text: JSON.stringify(object) }));
  const objects = [...installed, ...written].map((each) => [JSON.stringify([each.table, each.namespace, each.name]), each] as const);
  return { revision: Math.max(cluster.revision, today.revision), objects: new Map(objects) };
}

export function writeWorld(folder: string, { atMs, clusters }: RecordedWorld): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'world.json'), `${JSON.stringify({ atMs }, undefined, 1)}\n`);
  for (const [name, cluster] of Object.entries(clusters))
    writeFileSync(path.join(folder, `${name}.cluster.json`), `${JSON.stringify(cluster, undefined, 1)}\n`);
}

export function readWorld(folder: string): RecordedWorld {
  const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const { atMs } = read('world.json') as { atMs: number };
  const files = readdirSync(folder).filter((file) => file.endsWith('.cluster.json'));
  return { atMs, clusters: Object.fromEntries(files.map((file) => [file.replace('.cluster.json', ''), read(file) as RecordedCluster])) };
}
