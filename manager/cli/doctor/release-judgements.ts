import { gunzipSync } from 'node:zlib';
import type { DeepReadonly, Secret } from '../../../shared/api/kubernetes.ts';
import { note, wrong, type Check } from '../checks.ts';

/** One revision of what Helm has installed, as it keeps it in a Secret. */
export type Release = { readonly name: string; readonly chart: string; readonly revision: number; readonly status: string };

/** Manifests of the largest chart are a tenth of that. */
const RELEASE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Undefined for a Secret that Helm has not written. Helm packs a release as JSON, gzip, base64, and the API server's base64 around that.
 */
export function releaseOf({ metadata: { labels = {} }, data = {} }: DeepReadonly<Secret>): Release | undefined {
  const { name, status, version } = labels;
  if (labels['owner'] !== 'helm' || name === undefined || status === undefined) return undefined;
  return { name, status, revision: Number(version), chart: chartIn(data['release'] ?? '') };
}

function chartIn(packed: string): string {
  try {
    const gzip = Buffer.from(Buffer.from(packed, 'base64').toString(), 'base64');
    const release = JSON.parse(gunzipSync(gzip, { maxOutputLength: RELEASE_BYTES_MAX }).toString()) as {
      chart?: { metadata?: { name?: unknown } };
    };
    const name = release.chart?.metadata?.name;
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // of another version of Helm: nobody can say what it is of
  }
}

const CHARTS: readonly string[] = ['switchyard-manager', 'switchyard-worker'];

/** What of Switchyard's releases did not get to its end, and how it is repeated. */
export function judgeReleases(releases: readonly Release[], namespace: string): Check[] {
  const ours = releases.filter(({ chart }) => CHARTS.includes(chart));
  return [...new Set(ours.map(({ name }) => name))].flatMap((name) => {
    const revisions = ours.filter((each) => each.name === name).toSorted((a, b) => b.revision - a.revision);
    const [latest] = revisions;
    if (latest === undefined) return [];
    const check = `release ${name}`;
    const holds = revisions.find(({ status }) => status === 'deployed');
    const again = `helm upgrade --install ${name} (chart ${latest.chart}) -n ${namespace} with the values it had`;
    if (latest.status === 'failed')
      return holds === undefined
        ? [wrong(check, 'its install failed half way', `mend what Helm said, and repeat it: ${again} takes over what is there already`)]
        : [
            note(
              check,
              `its upgrade failed half way; revision ${holds.revision} was the last whole one`,
              `${again}, or helm rollback ${name}`,
            ),
          ];
    if (latest.status === 'pending-install')
      return [
        note(
          check,
          'its install is under way, or was cut off',
          `if no Helm is at it: helm uninstall ${name} -n ${namespace}, and install again. The definitions stay, and are taken over`,
        ),
      ];
    if (latest.status.startsWith('pending-'))
      return [
        note(
          check,
          `its ${latest.status.slice('pending-'.length)} is under way, or was cut off`,
          `if no Helm is at it: helm rollback ${name} -n ${namespace}`,
        ),
      ];
    return [];
  });
}
