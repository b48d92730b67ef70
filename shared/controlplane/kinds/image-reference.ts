/**
 * The pull policy of a container that names none: an image that may change under its name (tag `latest`, or none) is always pulled.
 * An unreadable reference has no tag, so it is not (upstream ignores the parse error).
 */
export const defaultPullPolicy = (image: string): 'Always' | 'IfNotPresent' => (tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent');

const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const DOMAIN = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d+)?$/;
const PATH = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;

/** '' when the reference has a digest and no tag, or cannot be read. */
const tagOf = (image: string): string => {
  const [named = '', digest, ...rest] = image.split('@');
  if (rest.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return '';
  const slash = named.indexOf('/');
  const first = named.slice(0, Math.max(slash, 0));
  const hasDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (hasDomain && !DOMAIN.test(first)) return '';
  const remainder = hasDomain ? named.slice(slash + 1) : named;
  const colon = remainder.lastIndexOf(':');
  const path = colon < 0 ? remainder : remainder.slice(0, colon);
  if (!PATH.test(path)) return '';
  if (colon >= 0) return TAG.test(remainder.slice(colon + 1)) ? remainder.slice(colon + 1) : '';
  return digest === undefined ? 'latest' : '';
};
