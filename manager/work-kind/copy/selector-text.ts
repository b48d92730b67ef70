const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_NAME = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABELS_MAX = 16;

/** The label selector of pods with these labels; undefined where no API server would take it. */
export function selectorText(labels: Readonly<Record<string, unknown>>): string | undefined {
  const terms = Object.entries(labels);
  const isAskable = terms.length > 0 && terms.length <= LABELS_MAX && terms.every(isLabel);
  return isAskable ? terms.map(([name, value]) => `${name}=${String(value)}`).join(',') : undefined;
}

const isLabel = ([name, value]: [string, unknown]): boolean =>
  LABEL_NAME.test(name) && typeof value === 'string' && LABEL_VALUE.test(value);
