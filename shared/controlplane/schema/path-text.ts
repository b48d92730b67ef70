/** `spec.containers[0].image`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}
