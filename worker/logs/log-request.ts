import { podLogPath } from '../../shared/kube/pod-log-path.ts';
import { tellingContainer } from './ended-pod.ts';
import type { PodView } from '../job/pod-view.ts';

/**
 * A kubelet counts a log's end in lines and its size from the front: so many bytes for a line that a whole tail has room for all of them.
 */
const LINE_BYTES_MIN = 64;
/** Longer lines than 1 KiB on average lose their end, which is the price of one call. */
const READ_FACTOR = 16;

export type LogRequest = { readonly path: string; readonly bodyMaxBytes: number };

/** The call that reads the end of a pod's log. */
export function logRequest({ pod }: PodView, tailBytes: number): LogRequest {
  const { namespace, name } = pod.metadata;
  const limitBytes = tailBytes * READ_FACTOR;
  const tailLines = Math.ceil(tailBytes / LINE_BYTES_MIN);
  // Whoever does not heed the limit is not read to its end.
  const path = podLogPath({ namespace, name }, { container: tellingContainer(pod)?.name, tailLines, limitBytes });
  return { path, bodyMaxBytes: limitBytes + 1024 };
}
