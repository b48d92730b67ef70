import type { JobView, PodView } from '../views.ts';
import { useAsked } from './asked.tsx';
import { jobAt } from './place.ts';
import { behindNamespace, namespaceOf } from './words.ts';

const LINES_SHOWN = 20;

/** Why it failed, with the last lines of the pod that failed last. */
export function WhyItFailed({ view }: { readonly view: JobView }) {
  const { line, pods } = view;
  const pod = pods.filter(({ phase, hasLog }) => phase === 'Failed' && hasLog).toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0))[0];
  if (line.why === undefined && line.reason === undefined && pod === undefined) return null;
  return (
    <section class="card">
      <h2>Why it failed</h2>
      <p class="said">
        {line.reason !== undefined && <b>{line.reason}. </b>}
        {line.why}
      </p>
      {pod !== undefined && <LogTail job={line.key} pod={pod} />}
    </section>
  );
}

function LogTail({ job, pod: { pod, cluster, exitCode } }: { readonly job: string; readonly pod: PodView }) {
  const { value, problem } = useAsked((api) => api.log(namespaceOf(job), behindNamespace(job), pod), `${job}/${pod}`, undefined);
  if (problem !== undefined) return <p class="soft">The log of pod {pod} is not shown: {problem.message}</p>;
  if (value === undefined) return <p class="soft">Fetching the end of the log …</p>;
  const lines = value.log.trimEnd().split('\n').slice(-LINES_SHOWN);
  return (
    <div class="log">
      <p class="soft">
        {lines.length === 1 ? 'The last line' : `The last ${lines.length} lines`} of pod <span class="mono">{pod}</span> on {cluster}
        {exitCode !== undefined && `, which ended with exit code ${exitCode}`}. <a href={jobAt(job, 'pods')}>all pods</a>
      </p>
      <pre tabIndex={0} aria-label={`End of the log of ${pod}`}>
        {lines.join('\n')}
      </pre>
    </div>
  );
}
