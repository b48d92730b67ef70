import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { StaticFile } from './static-files.ts';

/** All files below a folder, compressed once. Throws where the folder cannot be read. */
export async function readStaticFiles(folder: string): Promise<readonly StaticFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name);
        const body = await readFile(file);
        const [br, gz] = await Promise.all([
          promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
          promisify(gzip)(body, { level: 9 }),
        ]);
        return {
          path: path.relative(folder, file).split(path.sep).join('/'),
          body,
          encoded: [
            { coding: 'br' as const, body: br },
            { coding: 'gzip' as const, body: gz },
          ].filter((each) => each.body.byteLength < body.byteLength),
          etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
        };
      }),
  );
}
