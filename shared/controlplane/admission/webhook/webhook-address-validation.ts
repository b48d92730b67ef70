import { type FieldError, invalid, required } from '../../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../../kube/name-formats.ts';

const FORM = '; desired format: https://host[/path]';

/** ValidateWebhookURL of apiserver. */
export function validateWebhookUrl(text: string, path: string): FieldError[] {
  const { scheme, host, user, fragment, query } = splitUrl(text);
  return [
    ...(scheme === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === '' ? [invalid(path, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(path, query, 'query parameters are not permitted in the URL')]),
  ];
}

type UrlParts = { scheme: string; host: string; user: string | undefined; fragment: string; query: string };

/** The parts as Go's url.Parse names them; it takes texts that are no URL in JavaScript's eyes, such as `foo`. */
function splitUrl(text: string): UrlParts {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  const [, scheme = '', user, host = '', query = '', fragment = ''] = match ?? [];
  return { scheme: scheme.toLowerCase(), host, user, query, fragment };
}

export type DecodedServiceReference = { name?: string; namespace?: string; path?: string; port?: number };

/** ValidateWebhookService of apiserver. */
export function validateServiceReference(
  { name = '', namespace = '', path: urlPath, port = 443 }: DecodedServiceReference,
  path: string,
): FieldError[] {
  return [
    ...(name === '' ? [required(`${path}.name`, 'service name is required')] : []),
    ...(namespace === '' ? [required(`${path}.namespace`, 'service namespace is required')] : []),
    ...(port < 1 || port > 65535 ? [invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive')] : []),
    ...validateUrlPath(urlPath ?? '', `${path}.path`),
  ];
}

function validateUrlPath(urlPath: string, path: string): FieldError[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [invalid(path, urlPath, 'segment[0] may not be empty')];
  const errors: FieldError[] = urlPath.startsWith('/') ? [] : [invalid(path, urlPath, "must start with a '/'")];
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  for (const [i, segment] of segments.entries()) {
    if (segment === '') errors.push(invalid(path, urlPath, `segment[${i}] may not be empty`));
    else for (const problem of dns1123SubdomainProblems(segment)) errors.push(invalid(path, urlPath, `segment[${i}]: ${problem}`));
  }
  return errors;
}
