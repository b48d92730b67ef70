/**
 * The commands of a document, as somebody types them who reads it from the top: its fenced blocks of `sh`, in their order, by the headings
 * above them.
 */
import { spawn } from 'node:child_process';

export type ShellBlock = {
  /** The nearest heading above. */
  readonly heading: string;
  readonly line: number;
  readonly text: string;
};

/**
 * Comments of the form `<!-- here: WORDS -->` are steps, too, that the reader does in a way of their own (such as a restore): they are
 * blocks whose text begins with `#here `.
 */
export function shellBlocks(markdown: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let heading = '';
  let open: { readonly line: number; readonly lines: string[]; readonly indent: number; readonly isShell: boolean } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^( *)```(\w*)/.exec(line);
    if (open !== undefined) {
      if (fence === null) open.lines.push(line.slice(open.indent));
      else {
        if (open.isShell) blocks.push({ heading, line: open.line, text: open.lines.join('\n') });
        open = undefined;
      }
      continue;
    }
    if (fence !== null) open = { line: index + 1, lines: [], indent: fence[1]?.length ?? 0, isShell: fence[2] === 'sh' };
    heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
    const here = /^ *<!-- here: (.*) -->$/.exec(line)?.[1];
    if (here !== undefined) blocks.push({ heading, line: index + 1, text: `#here ${here}` });
  }
  return blocks;
}

export type ShellResult = { readonly code: number | null; readonly output: string };

/** A shell in which variables stay from one block to the next, as they do for a reader. */
export class ReadersShell {
  readonly #cwd: string;
  readonly #environment: Record<string, string | undefined>;
  #variables = '';

  constructor(cwd: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#cwd = cwd;
    this.#environment = { ...environment };
  }

  /** Sets a variable of the environment. */
  set(name: string, value: string): void {
    this.#environment[name] = value;
  }

  /** Runs a block to its end, or to its first command that fails. */
  async run(text: string): Promise<ShellResult> {
    const mark = '--- variables of this shell ---';
    const script = `${this.#variables}\nset -eu\n${text}\nset +eu\necho '${mark}'\nset`;
    const child = spawn('/bin/sh', ['-c', script], { cwd: this.#cwd, env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    const at = output.indexOf(mark);
    if (at < 0) return { code, output };
    // What a reader has set, by names in small or capital letters that the environment had not.
    const set = output.slice(at + mark.length);
    const own = [...set.matchAll(/^([A-Za-z][A-Za-z0-9_]*)=(?:'[^']*'|"[^"]*"|\S)*$/gm)]
      .filter(([, name = '']) => !(name in this.#environment) && !/^(IFS|OPTIND|PPID|PS\d|PWD|OLDPWD|_)$/.test(name))
      .map(([line]) => line);
    this.#variables = own.join('\n');
    return { code, output: output.slice(0, at) };
  }
}
