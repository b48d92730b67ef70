/**
 * Writes the JSON Schemas of what goes over the queue of submissions, for programs in any language.
 * `node scripts/generate-submission-schemas.ts` after a change in manager/api/schema/submissions.ts; a test holds the committed files to
 * the types.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SUBMISSION_SCHEMAS } from '../manager/api/schema/submissions.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'shared', 'client', 'schemas');

/** The generated files, by name. */
export const submissionSchemaFiles = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(SUBMISSION_SCHEMAS).map(([name, schema]) => {
      const document = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: `Switchyard submission: ${name}`, ...schema };
      return [`${name}.json`, `${JSON.stringify(document, undefined, 2)}\n`];
    }),
  );

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of submissionSchemaFiles()) writeFileSync(path.join(FOLDER, name), text);
}
