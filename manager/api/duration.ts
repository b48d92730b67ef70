/** Pattern of a duration in fields and annotations: hours, minutes and seconds, in this order (`90s`, `1h30m`). */
export const DURATION_PATTERN = '^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,7}s)?$';

const DURATION = /^(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,7})s)?$/;

/** Milliseconds of a text such as `90s` or `1h30m`; undefined when it is malformed. */
export function parseDurationMs(text: string): number | undefined {
  const match = text === '' ? null : DURATION.exec(text);
  if (match === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = match;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

/** The shortest text of a time in whole seconds: `1h30m`, `90s` as `1m30s`, `0s`. A fraction of a second counts as one second. */
export function formatDurationMs(ms: number): string {
  const total = Math.ceil(ms / 1000);
  const parts = [`${Math.floor(total / 3600)}h`, `${Math.floor(total / 60) % 60}m`, `${total % 60}s`].filter(
    (each) => !each.startsWith('0'),
  );
  return parts.length === 0 ? '0s' : parts.join('');
}
