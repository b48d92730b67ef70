/** What a submission's data may be as text, before anybody parses it. */
export type TextLimits = {
  readonly bytesMax: number;
  /** Levels that it may nest; absent: 64. */
  readonly depthMax?: number;
};

/** A Job nests some fifteen levels deep. What recurses over a document must not meet one of a million. */
const DEPTH_MAX = 64;

/** Why the text is not parsed: it is too large, nests too deeply, or is no JSON. Undefined when nothing is wrong with it. */
export function textProblem(text: string, { bytesMax, depthMax = DEPTH_MAX }: TextLimits): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) {
    return `the submission has ${bytes} bytes, and at most ${bytesMax} are read; move scripts and data into a ConfigMap or an image, or ask an administrator to raise --max-job-bytes`;
  }
  if (isDeep(text, depthMax)) return `the submission nests more than ${depthMax} levels deep; no Job does`;
  return isJson(text) ? undefined : 'the submission is not JSON; give the manifest of a batch/v1 Job as JSON';
}

function isDeep(text: string, depthMax: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character === '\\') index++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth > depthMax) return true;
  }
  return false;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
