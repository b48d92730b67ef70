/** A float as Go's `%v` prints it: the shortest text, with an exponent below 1e-4 and from 1e+06 on. */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
