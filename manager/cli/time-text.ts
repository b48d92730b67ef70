/** `850ms`, `4.2s`, `3m05s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.max(0, Math.round(durationMs))}ms`;
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** As kubectl writes ages: `12s`, `5m`, `3h`, `8d`, with a smaller unit beside small numbers: `3m20s`. */
export function formatAge(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  for (const [unit, size, finer, finerSize] of AGE_UNITS) {
    if (seconds < size * 2) continue;
    const rest = Math.floor((seconds % size) / finerSize);
    return seconds < size * 10 && rest > 0 ? `${Math.floor(seconds / size)}${unit}${rest}${finer}` : `${Math.floor(seconds / size)}${unit}`;
  }
  return `${seconds}s`;
}

/** Unit, its seconds, and the unit beside it. */
const AGE_UNITS = [
  ['d', 86_400, 'h', 3_600],
  ['h', 3_600, 'm', 60],
  ['m', 60, 's', 1],
] as const;
