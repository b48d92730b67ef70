import type { DeepReadonly, OwnerReference } from '../api/kubernetes.ts';

type Owned = { readonly metadata: { readonly ownerReferences?: readonly DeepReadonly<OwnerReference>[] | undefined } };

/** The one owner that controls the object (metav1.GetControllerOf); undefined without one. */
export const controllerOf = ({ metadata }: Owned): DeepReadonly<OwnerReference> | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);
