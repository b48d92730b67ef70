import { join } from 'node:path';

type Named = { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string } };

/** Where everything of one pod is kept. */
export const podDirectory = (root: string, { metadata }: Named): string =>
  join(root, `${metadata.namespace ?? ''}_${metadata.name}_${metadata.uid}`);

/** Files of one run of a container: its output, its termination message, and its working directory, which outlives restarts. */
export function containerFiles(
  root: string,
  pod: Named,
  container: string,
  restarts: number,
): { readonly log: string; readonly terminationMessage: string; readonly home: string } {
  const directory = join(podDirectory(root, pod), container);
  return {
    log: join(directory, `${restarts}.log`),
    terminationMessage: join(directory, `${restarts}.termination-message`),
    home: join(directory, 'home'),
  };
}
