import type { Parameters, Route } from './route.ts';

export type RouteMatch =
  | { readonly kind: 'Route'; readonly route: Route; readonly parameters: Parameters }
  /** The path is served for other methods. */
  | { readonly kind: 'OtherMethods'; readonly allowed: readonly string[] }
  | { readonly kind: 'None' };

/** The route of a request. A segment of the path is decoded after the path is split, so that a parameter may contain a slash. */
export function matchRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const segments = path.split('/');
  const ofPath = routes.flatMap((route) => {
    const parameters = parametersOf(route.path.split('/'), segments);
    return parameters === undefined ? [] : [{ route, parameters }];
  });
  const found = ofPath.find(({ route }) => route.method === method);
  if (found !== undefined) return { kind: 'Route', ...found };
  return ofPath.length === 0 ? { kind: 'None' } : { kind: 'OtherMethods', allowed: ofPath.map(({ route }) => route.method) };
}

function parametersOf(pattern: readonly string[], segments: readonly string[]): Parameters | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const given = segments[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decoded(given);
    if (value === undefined || value === '') return undefined;
    parameters[name] = value;
  }
  return parameters;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
