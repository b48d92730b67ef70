import { deflateRawSync } from 'node:zlib';
import { OLDEST_NODE } from './package-file.ts';

/**
 * One program of many modules as one file. A module is compressed, and unpacked when it is imported: so a command costs the time of what it
 * loads, not of all that the file has. `modules`: sources by their paths from a common top, which import one another by relative paths;
 * `entry` is one of them.
 */
export function oneFile(modules: ReadonlyMap<string, string>, entry: string): string {
  if (!modules.has(entry)) throw new Error(`there is no module ${entry} to begin with`);
  const packed = [...modules]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, source]) => `  ${JSON.stringify(name)}: '${deflateRawSync(source, { level: 9 }).toString('base64')}',\n`);
  return `#!/usr/bin/env node
// A program of many modules in one file, made by scripts/package/one-file.ts of its sources.
import module from 'node:module';
import { inflateRawSync } from 'node:zlib';
const modules = {
${packed.join('')}};
if (module.registerHooks === undefined) {
  console.error('this program needs Node ${OLDEST_NODE} or newer, and runs on ' + process.version);
  process.exit(1);
}
const top = import.meta.url + '/';
module.registerHooks({
  resolve(specifier, context, next) {
    const url = specifier.startsWith('.') ? new URL(specifier, context.parentURL).href : specifier;
    return url.startsWith(top) ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    const packed = url.startsWith(top) ? modules[url.slice(top.length)] : undefined;
    if (packed === undefined) return next(url, context);
    return { format: 'module', source: inflateRawSync(Buffer.from(packed, 'base64')).toString(), shortCircuit: true };
  },
});
await import(top + ${JSON.stringify(entry)});
`;
}
