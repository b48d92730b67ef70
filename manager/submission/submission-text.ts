/** What a submission's data may be as text, before anybody parses it. */
export type TextLimits = {
  readonly bytesMax: number;
  /** Levels that it may nest; absent: 64. */
  readonly depthMax?: number;
};

/** A Job nests some fifteen levels deep. What recurses over a document must not meet one of a million. */
const DEPTH_MAX = 64;

/** Why a text is not parsed; `message` has the text as its subject. */
export type TextFault = { readonly kind: 'TooLarge' | 'TooDeep' | 'NotJson'; readonly message: string };

/** Undefined when nothing is wrong with the text. */
export function textFault(text: string, { bytesMax, depthMax = DEPTH_MAX }: TextLimits): TextFault | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) return { kind: 'TooLarge', message: `has ${bytes} bytes, and at most ${bytesMax} are read` };
  if (isDeep(text, depthMax)) return { kind: 'TooDeep', message: `nests more than ${depthMax} levels deep` };
  return isJson(text) ? undefined : { kind: 'NotJson', message: 'is not JSON' };
}

/** Why a submission is not parsed, and what to do about it. Undefined when nothing is wrong with its text. */
export function textProblem(text: string, limits: TextLimits): string | undefined {
  const fault = textFault(text, limits);
  return fault && `the submission ${fault.message}; ${REMEDIES[fault.kind]}`;
}

const REMEDIES: Readonly<Record<TextFault['kind'], string>> = {
  TooLarge: 'move scripts and data into a ConfigMap or an image, or ask an administrator to raise --max-job-bytes',
  TooDeep: 'no Job does',
  NotJson: 'give the manifest of a batch/v1 Job as JSON',
};

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
