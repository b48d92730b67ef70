import { isObject, valueAt } from './json-path.ts';

/** What the words of a case stand for in one run: `{ns}` and the like, and answers saved on the way. */
export interface CaseWords {
  /** What each word in braces stands for. */
  readonly words: Readonly<Record<string, string>>;
  save(name: string, answer: unknown): void;
  saved(name: string): unknown;
  /** For paths and texts: also `${job.metadata.uid}`, escaped as in a URL. */
  fillText(text: string): string;
  /** For JSON: a string that is `$job.metadata.uid` and nothing else becomes that value. */
  fill(value: unknown): unknown;
}

export function createCaseWords(words: Readonly<Record<string, string>>): CaseWords {
  const answers = new Map<string, unknown>();
  const referred = (name: string, path: string | undefined): unknown =>
    path === undefined ? answers.get(name) : valueAt(answers.get(name), path);

  const fillText = (text: string): string => {
    let filled = text;
    for (const [word, meaning] of Object.entries(words)) filled = filled.replaceAll(word, meaning);
    return filled.replace(/\$\{([a-z]\w*)\.([\w.-]+)\}/g, (_, name: string, path: string) =>
      encodeURIComponent(String(referred(name, path))),
    );
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const [, name, path] = /^\$([a-z]\w*)(?:\.([\w.-]+))?$/.exec(value) ?? [];
      return name !== undefined && answers.has(name) ? structuredClone(referred(name, path)) : fillText(value);
    }
    if (Array.isArray(value)) return value.map(fill);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, element]) => [fillText(key), fill(element)]));
  };
  return { words, save: (name, answer) => void answers.set(name, answer), saved: (name) => answers.get(name), fillText, fill };
}
