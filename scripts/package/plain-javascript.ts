/** A source file of ours as plain JavaScript: `javascript` is the file without its types, which must leave every line where it was. */
export const withPlainNames = (javascript: string): string => javascript.replace(NAMES_OF_FILES, '$1$2.js$1');

/** Of modules, and of programs that are started: in quotes, and nothing else in them. */
const NAMES_OF_FILES = /(['"])((?:\.{1,2}\/|manager\/|worker\/|shared\/)[\w./-]+)\.ts\1/g;

/** What the package's own package.json says: the program looks there for its version, and Node for the kind of modules. */
export const innerPackageFile = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${JSON.stringify({ name, version, type: 'module' }, undefined, 2)}\n`;
