/** Nodes of equal, or similar, allocatable resources: none of them offers more of any. */
export type NodeShape = { readonly count: number; readonly allocatable: Readonly<Record<string, string>> };

/** The most shapes that the status of a WorkerCluster may have. */
export const NODE_SHAPES_MAX = 16;
