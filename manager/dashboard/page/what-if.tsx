import { useState } from 'preact/hooks';
import type { QueueNode, WhatIfView } from '../views.ts';
import { useAskedAtRest } from './asked.tsx';
import { Command } from './command.tsx';
import { KeyName } from './parts.tsx';
import { jobAt } from './place.ts';
import { overview } from './state.tsx';
import { count } from './words.ts';
import { dialsOf, NO_WISHES, queryOf, type Dial, type Wishes } from './wishes.ts';
import { clustersIn } from './overview-model.ts';

/** Whoever turns a dial is not asked about at every step of it. */
const REST_MS = 400;

/** What would become of Jobs with more quota, another weight or a cluster less. Nothing is changed by it. */
export function WhatIf({ queue, weight }: { readonly queue: QueueNode; readonly weight: string }) {
  const [wishes, setWishes] = useState<Wishes>(NO_WISHES);
  const dials = dialsOf(queue);
  const query = queryOf(dials, wishes)?.toString();
  const subject = query === undefined ? undefined : `${queue.name}?${query}`;
  const { value: view, problem, isAsking } = useAskedAtRest((api) => api.whatIf(queue.name, new URLSearchParams(query)), subject, REST_MS);
  const turn = (name: string, value: number): void => setWishes({ ...wishes, quota: { ...wishes.quota, [name]: value } });
  return (
    <section class="card">
      <h2>
        What if{' '}
        {query !== undefined && (
          <button type="button" class="quiet" onClick={() => setWishes(NO_WISHES)}>
            as it is
          </button>
        )}
      </h2>
      <form class="dials" onSubmit={(event) => event.preventDefault()}>
        {dials.map((dial) => (
          <DialRow key={dial.name} dial={dial} value={wishes.quota[dial.name] ?? dial.now} turn={(value) => turn(dial.name, value)} />
        ))}
        <label class="dial">
          <span>weight with fair sharing</span>
          <input
            type="number"
            min="0"
            step="0.5"
            value={wishes.weight ?? weight}
            onInput={({ currentTarget: { value } }) => setWishes({ ...wishes, weight: value === weight ? undefined : value })}
          />
        </label>
        {clustersIn(overview.value ?? new Map()).map(({ name }) => (
          <label class="dial" key={name}>
            <span>
              <input
                type="checkbox"
                checked={wishes.drained.includes(name)}
                onInput={({ currentTarget: { checked } }) =>
                  setWishes({ ...wishes, drained: checked ? [...wishes.drained, name] : wishes.drained.filter((each) => each !== name) })
                }
              />{' '}
              {name} drained
            </span>
          </label>
        ))}
      </form>
      <div role="status" aria-live="polite">
        {query === undefined && <p class="soft">Turn something to see which Jobs it affects. Nothing is changed by looking.</p>}
        {isAsking && <p class="soft">Working it out …</p>}
        {query !== undefined && !isAsking && problem !== undefined && <p class="problem">{problem.message}</p>}
        {query !== undefined && !isAsking && view !== undefined && <Told view={view} own={queue.name} />}
      </div>
    </section>
  );
}

function DialRow({ dial: { label, unit, now, max, step }, value, turn }: { readonly dial: Dial; readonly value: number; readonly turn: (value: number) => void }) {
  const read = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    if (currentTarget.value !== '') turn(Math.max(0, Number(currentTarget.value)));
  };
  return (
    <div class="dial">
      <span>
        {label} <span class="soft">now {`${now.toLocaleString('en')} ${unit}`}</span>
      </span>
      <input type="range" aria-label={`${label}, slider`} min="0" max={Math.max(max, value)} step={step} value={value} onInput={read} />
      <span class="with-unit">
        <input type="number" aria-label={`${label}${unit === '' ? '' : ` in ${unit}`}`} min="0" value={value} onInput={read} />
        <span class="soft" aria-hidden="true">
          {unit}
        </span>
      </span>
    </div>
  );
}

/** What happens to Jobs, as `switchyard what-if` names it. */
const WORDS: Readonly<Record<string, string>> = {
  Admitted: 'would be admitted',
  Evicted: 'would lose their place',
  Moved: 'would go elsewhere',
  Interrupted: 'would be interrupted',
  Spared: 'would keep their place',
  Delayed: 'would wait longer',
  Advanced: 'would move up',
};

function Told({ view: { queues, jobs, more, isSettled, commands }, own }: { readonly view: WhatIfView; readonly own: string }) {
  return (
    <>
      {queues.length === 0 && jobs.length === 0 && <p>No Job that you may see is affected.</p>}
      {queues.map(({ name, effects }) => (
        <p key={name}>
          <b>{name === own ? 'Here' : name}</b>:{' '}
          {Object.entries(effects)
            .map(([kind, number]) => `${count(number, 'Job')} ${WORDS[kind] ?? kind}`)
            .join(', ')}
        </p>
      ))}
      {jobs.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Job</th>
              <th>Now or soon</th>
              <th>Then</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map(({ key, without, with: standing }) => (
              <tr key={key}>
                <td>
                  <a href={jobAt(key)}>
                    <KeyName of={key} />
                  </a>
                </td>
                <td class="soft">{without ?? ''}</td>
                <td>{standing}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p class="soft">and {count(more, 'more Job')}</p>}
      {!isSettled && <p class="soft">What follows was given up after many rounds; this is how far it went.</p>}
      {commands.map((line) => (
        <Command key={line} does="make this change" line={line} />
      ))}
    </>
  );
}
