import { formatProblems } from '../../api/field-problem.ts';
import { WORK_KINDS, type WorkKindObject } from '../../api/work-kind.ts';
import { compileDescription, type Description } from '../../work-kind/described/description.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { ManifestError, readManifests, type Manifest } from '../import-kueue/documents.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { textOf } from '../submit/read-file.ts';
import { ChangeError, createValidator } from '../what-if/validation.ts';
import type { KindsTestConfig } from './config.ts';
import { understood, understoodLines } from './understood.ts';

/** Says what a description understands of objects, and resolves with the exit code. */
export async function runKindsTest({ file, manifests, output }: KindsTestConfig, session: Session): Promise<number> {
  const { metadata, spec } = descriptionIn(file, session.now());
  const compiled = compileDescription(spec);
  if (compiled.kind === 'Refused') throw new CommandError(`${file}: WorkKind ${metadata.name}: ${formatProblems(compiled.problems)}`);
  const objects = manifests
    .flatMap((each) => documentsIn(each))
    .map((manifest) => understood(compiled.description, checked(manifest, compiled.description)));
  const { group, version } = compiled.description.resource;
  const kind = `${compiled.description.resource.kind} (${group}/${version})`;
  const width = Math.min(session.output.width, 120);
  await report(session, output, {
    lines: [`${kind}: the description is accepted.`, ...objects.flatMap((object) => ['', ...understoodLines(object, width)])],
    value: { kind: compiled.description.resource.kind, group, version, objects },
  });
  return objects.some(({ problems }) => problems.length > 0) ? ExitCode.Failed : ExitCode.Done;
}

/** Throws {@link CommandError} with what the API server would refuse. */
function descriptionIn(file: string, nowMs: number): WorkKindObject {
  const [first, ...others] = documentsIn(file);
  if (first === undefined || others.length > 0 || first.kind !== WORK_KINDS.kind)
    throw new CommandError(
      `${file}: there must be one WorkKind in it, and nothing else; put objects of the kind into other files`,
      ExitCode.Usage,
    );
  try {
    return createValidator(nowMs)(WORK_KINDS, first.fields, undefined, first.place) as unknown as WorkKindObject;
  } catch (error) {
    if (error instanceof ChangeError) throw new CommandError(error.message, ExitCode.Failed, { cause: error });
    throw error;
  }
}

function documentsIn(file: string): Manifest[] {
  try {
    return readManifests(file === '-' ? 'standard input' : file, textOf(file));
  } catch (error) {
    if (error instanceof ManifestError) throw new CommandError(error.message, ExitCode.Failed, { cause: error });
    throw error;
  }
}

function checked(manifest: Manifest, { resource }: Description): Manifest {
  const apiVersion = `${resource.group}/${resource.version}`;
  if (manifest.kind === resource.kind && manifest.apiVersion === apiVersion) return manifest;
  const what = `${manifest.apiVersion} ${manifest.kind}`;
  throw new CommandError(
    `${manifest.place}: this is ${what}, and the description is of ${apiVersion} ${resource.kind}; give objects of that`,
  );
}
