import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';

/** A container with its place, such as `spec.initContainers[0]`. */
export type PlacedContainer = { readonly container: DecodedContainer; readonly path: string };

/** All containers of a pod in the order in which upstream visits them. */
export const allContainers = (spec: DecodedPodSpec, path: string): PlacedContainer[] =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({ container, path: `${path}.${list}[${i}]` })),
  );
