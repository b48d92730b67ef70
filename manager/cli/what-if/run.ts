import { readFileSync } from 'node:fs';
import { FlagError } from '../../../shared/runtime/flags.ts';
import { withExpectedTimes } from '../../insight/estimate/expected-run-times.ts';
import { pastOf } from '../../insight/estimate/past.ts';
import { EditError } from '../../insight/world/edited-object.ts';
import type { World } from '../../insight/world/world.ts';
import { whatIf } from '../../insight/what-if/what-if.ts';
import { worldOf, type WorldObjects } from '../../insight/world/world-objects.ts';
import { withPlainNames, withWorkKeys } from '../../work-kind/qualified-name.ts';
import type { JobClient } from '../cluster-connection.ts';
import { ExitCode } from '../exit-codes.ts';
import { readWorld } from '../explain/world-reader.ts';
import { ownOrManager } from '../server/with-manager.ts';
import { withCluster } from '../with-cluster.ts';
import { managersAnswer } from './managers-answer.ts';
import { ManifestError, readManifests } from '../import-kueue/documents.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { changedObjects } from './changed-objects.ts';
import type { Change } from './changes.ts';
import type { ChangeFile, WhatIfConfig } from './config.ts';
import { ChangeError } from './validation.ts';
import { whatIfText } from './what-if-text.ts';

/** Tells what changes would do, on standard output, and resolves with the exit code. */
export async function runWhatIf(config: WhatIfConfig, session: Session): Promise<number> {
  const { output, flags } = config;
  const refused = async (problem: string): Promise<number> => {
    await session.errors.write(`switchyard what-if: ${problem}\n`);
    return ExitCode.Failed;
  };
  return withCluster(config, async (connection) => {
    try {
      const changes = [...config.files.flatMap(fromFile), ...config.changes];
      const namespace = config.namespace ?? connection.namespace;
      const { lines, value } = await ownOrManager(config, connection, {
        own: async () => ownAnswer(await connection.kinds(), flags, changes, namespace, session),
        manager: (manager) => managersAnswer(manager, changes, namespace, session),
      });
      await report(session, output, { lines, value });
      return ExitCode.Done;
    } catch (error) {
      if (error instanceof ChangeError || error instanceof ManifestError || error instanceof FlagError || error instanceof EditError)
        return refused(error.message);
      throw error;
    }
  });
}

type Said = { readonly lines: readonly string[]; readonly value: object };

async function ownAnswer(
  { client, kind }: JobClient,
  flags: WhatIfConfig['flags'],
  changes: readonly Change[],
  namespace: string,
  session: Session,
): Promise<Said> {
  const nowMs = session.now();
  const { objects } = await readWorld({ client, kind }, nowMs);
  const changed = changedObjects(objects, changes, namespace, nowMs);
  const past = pastOf(kind, objects.jobs);
  const expecting = (each: WorldObjects): World => withExpectedTimes(worldOf(kind, each, flags, nowMs), past);
  const outcome = whatIf(expecting(objects), expecting(changed.objects));
  return {
    lines: [withPlainNames(kind.others, whatIfText(outcome, changed.said, Math.min(session.output.width, 80)).trimEnd())],
    value: withWorkKeys(kind.others, { changes: changed.said, ...outcome }),
  };
}

const fromFile = ({ file, copies }: ChangeFile): Change[] =>
  readManifests(file === '-' ? 'standard input' : file, textOf(file)).map(({ fields, place }) =>
    copies === undefined ? { kind: 'Apply', manifest: fields, place } : { kind: 'Submit', manifest: fields, copies, place },
  );

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
  } catch (error) {
    throw new ManifestError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
