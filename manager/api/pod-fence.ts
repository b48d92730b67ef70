/** The parts that a pod fence adds to the pods of a copy. */
export const POD_FENCE_PORT = 29_871;
export const POD_FENCE_VOLUMES = { renewal: 'switchyard-pod-fence-renewal', state: 'switchyard-pod-fence-state' } as const;
