import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Command } from '../command.ts';
import { plain } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { candidatesOf, type Candidates } from './candidates.ts';

/** Somebody is waiting at a prompt. */
const NAMES_WITHIN_MS = 2_000;
const NAMES_MAX = 200;

/** Writes what could come next, a candidate a line. Nothing that goes wrong with a cluster is said: a prompt is no place for it. */
export async function complete(commands: readonly Command[], typed: readonly string[], { output }: Session): Promise<void> {
  const candidates = candidatesOf(commands, typed);
  const names = candidates.names === undefined ? [] : await namesOf(candidates, candidates.names, typed.at(-1) ?? '');
  await output.write([...candidates.words, ...names].map((word) => `${word}\n`).join(''));
}

async function namesOf({ given: flags }: Candidates, kind: 'jobs' | 'clusters' | 'queues', beginning: string): Promise<readonly string[]> {
  try {
    const [{ connect }, { kindView, wholeObject }, { workView }] = await Promise.all([
      import('../cluster-connection.ts'),
      import('../get/kinds.ts'),
      import('../get/work-view.ts'),
    ]);
    const connection = connect({ kubeconfig: flags.get('kubeconfig'), context: flags.get('context') });
    const view = kindView(kind) ?? workView(kind, [connection.kind.of(undefined)]);
    const [resource] = view.resources;
    if (resource === undefined) return [];
    const namespace = resource.namespaced ? (flags.get('namespace') ?? connection.namespace) : '';
    const { items } = await connection.client.list(resource, {
      ...omitUndefined({ namespace, labelSelector: flags.get('selector') }),
      signal: AbortSignal.timeout(NAMES_WITHIN_MS),
    });
    // What cannot be typed as it is shown is no help.
    const names = items.filter((item) => view.isOurs(wholeObject(resource, item))).map(({ metadata }) => metadata.name);
    return names.filter((name) => name.startsWith(beginning) && plain(name) === name).slice(0, NAMES_MAX);
  } catch {
    return []; // no kubeconfig, no right, no answer in time: words are all there is
  }
}
