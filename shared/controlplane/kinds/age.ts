/** A duration as kubectl prints ages (HumanDuration of apimachinery): `45s`, `5m3s`, `3h20m`, `2d4h`, `340d`, `3y12d`. */
export const humanDuration = (durationMs: number): string => {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  if (days < 365 * 8) return two(Math.trunc(days / 365), 'y', days % 365, 'd');
  return `${Math.trunc(days / 365)}y`;
};

const two = (major: number, majorUnit: string, minor: number, minorUnit: string): string =>
  minor === 0 ? `${major}${majorUnit}` : `${major}${majorUnit}${minor}${minorUnit}`;

/** How long ago a moment was; `<unknown>` when there is none. */
export const ageOf = (time: string | null | undefined, now: number): string =>
  time === undefined || time === null ? '<unknown>' : humanDuration(now - Date.parse(time));
