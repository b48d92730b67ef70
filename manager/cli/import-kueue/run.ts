import { readFileSync } from 'node:fs';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { Session } from '../session.ts';
import { ManifestError, readManifests } from './documents.ts';
import { report } from './findings.ts';
import { IMPORT_PROGRAM, type ImportConfig } from './program.ts';
import { translate } from './translate.ts';

/** Writes the translation to standard output, what is lost to standard error, and resolves with the exit code. */
export async function runImport({ files, strict, output }: ImportConfig, session: Session): Promise<number> {
  try {
    const manifests = files.flatMap((file) => readManifests(file === '-' ? 'standard input' : file, textOf(file)));
    const { objects, findings } = translate(manifests);
    await session.errors.write(report(objects.length, findings));
    await session.output.write(
      output === 'json'
        ? asJson({ apiVersion: 'v1', kind: 'List', items: objects })
        : objects.map((object) => asYaml(object)).join('---\n'),
    );
    return strict && findings.some(({ kind }) => kind === 'Lost') ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    await session.errors.write(`${IMPORT_PROGRAM.name}: ${plain(error.message)}\n`);
    return 1;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
  } catch (error) {
    throw new ManifestError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
