/** Defects that the programs once had, to be put back on purpose: a simulation that does not find them again is worth little. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export type Defect = {
  readonly name: string;
  /** File of the program, and what stands there once. */
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
};

export const DEFECTS = [
  {
    name: 'moves-before-pods-are-gone',
    file: 'manager/dispatch/copy-rest.ts',
    right: 'const idle = (status?.active ?? 0) === 0 && (status?.terminating ?? 0) === 0;',
    wrong: 'const idle = (status?.active ?? 0) === 0;',
  },
  {
    name: 'lost-answer-is-a-no',
    file: 'manager/dispatch/mirror-controller.ts',
    right: 'else cluster.doubts.lost(key);',
    wrong: 'else cluster.doubts.unsent(key);',
  },
  {
    name: 'clusters-without-identity',
    file: 'manager/dispatch/cluster-registry.ts',
    right: 'const problem = judgeIdentities(this.#knownClusters(), homeUID).get(name);',
    wrong: 'const problem = judgeIdentities([], homeUID).get(name);',
  },
  {
    name: 'two-managers-at-once',
    file: 'manager/dispatch/cluster-lease.ts',
    right: "if (step === 'Refuse') return this.#heldByOther(us, lease);",
    wrong: "if (step === 'Refuse') this.#heldByOther(us, lease);",
  },
  {
    name: 'removed-cluster-keeps-jobs',
    file: 'manager/admission/cluster-state.ts',
    right: "spec.state === 'Draining' || metadata.deletionTimestamp !== undefined ||",
    wrong: "spec.state === 'Draining' ||",
  },
  {
    name: 'silent-after-a-restore',
    file: 'shared/kube/reflector.ts',
    right: 'if (isOlder(next, seen)) throw',
    wrong: 'if (isOlder(next, seen) && next === seen) throw',
  },
] as const satisfies readonly Defect[];
export type DefectName = (typeof DEFECTS)[number]['name'];
export const DEFECT_NAMES = DEFECTS.map(({ name }) => name) as [DefectName, ...DefectName[]];

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The text of the file of the program with the defect in it. Throws where what is to be replaced does not stand there exactly once. */
export function withDefect({ name, file, right, wrong }: Defect): string {
  const parts = readFileSync(path.join(ROOT, file), 'utf8').split(right);
  if (parts.length !== 2) throw new Error(`defect ${name}: ${JSON.stringify(right)} stands ${parts.length - 1} times in ${file}, not once`);
  return parts.join(wrong);
}

/** Programs that are loaded after this have the defect. On disk nothing changes. */
export function putBack(wanted: DefectName): void {
  const defect = DEFECTS.find(({ name }) => name === wanted);
  if (defect === undefined) throw new Error(`there is no defect ${wanted}`);
  const source = withDefect(defect);
  const target = pathToFileURL(path.join(ROOT, defect.file)).href;
  registerHooks({
    load: (url, context, next) => (url === target ? { ...next(url, context), source } : next(url, context)),
  });
}
