import { stripVTControlCharacters } from 'node:util';
import wrapAnsi from 'wrap-ansi';
import type { SimulatedEviction } from '../../insight/world/simulate-evictions.ts';
import { EffectKind, type Effect, type JobState, type WhatIf } from '../../insight/what-if/what-if.ts';

/** So many Jobs of each sort are listed. */
const LISTED_MAX = 25;

const TITLES: Readonly<Record<EffectKind, string>> = {
  Submitted: 'Submitted',
  Admitted: 'Admitted instead of waiting',
  Evicted: 'Evicted, and not admitted again soon',
  Moved: 'Moved to another cluster',
  Interrupted: 'Suspended, and resumed where they were',
  Spared: 'Keep the place that they would lose',
  Delayed: 'Wait longer',
  Advanced: 'Wait with fewer before them',
};

/** What a change does, in lines of at most `width` columns. */
export function whatIfText({ effects, untouched, settled }: WhatIf, said: readonly string[], width = 80): string {
  const groups = Object.values(EffectKind).flatMap((kind) => {
    const ofKind = effects.filter((effect) => effect.kind === kind);
    if (ofKind.length === 0) return [];
    const more = ofKind.length - LISTED_MAX;
    const listed = ofKind.slice(0, LISTED_MAX).map((effect) => `  ${effect.job}: ${story(effect)}`);
    return ['', `${TITLES[kind]} (${ofKind.length}):`, ...listed, ...(more > 0 ? [`  and ${more} more; --output json names all`] : [])];
  });
  const lines = [
    ...(said.length === 0 ? ['If nothing were changed:'] : ['If']),
    ...said.map((each) => `  ${each}`),
    ...(said.length === 0 ? [] : ['then, once all suspended Jobs have stopped, and if no Job ends and no other Job arrives:']),
    ...(effects.length === 0 ? ['', 'No Job is affected.'] : groups),
    ...(untouched === 0 ? [] : ['', `${untouched} ${untouched === 1 ? 'Job is' : 'Jobs are'} not affected.`]),
    ...(settled ? [] : ['The simulation did not settle: this is its state when it was stopped.']),
  ];
  return `${lines.flatMap((line) => wrapped(line, width)).join('\n')}\n`;
}

function story({ kind, now, without, with: standing, losses }: Effect): string {
  const why = losses.map(lossText).join('; ');
  const end = ending(standing, kind === EffectKind.Delayed || kind === EffectKind.Advanced ? without : undefined);
  const from = now?.kind === 'Admitted' && kind !== EffectKind.Spared ? `runs on ${now.cluster}; ` : '';
  return `${from}${why === '' ? '' : `${why}; `}${end}`;
}

const lossText = ({ message, preempted }: SimulatedEviction): string =>
  preempted === undefined ? message : `preempted for ${preempted.by} of ${preempted.clusterQueue} (${preempted.rule})`;

function ending(standing: JobState, without: JobState | undefined): string {
  switch (standing.kind) {
    case 'Admitted': {
      const { cluster, clusterQueue, flavors, pods } = standing;
      const names = [...new Set(Object.values(flavors))];
      const flavor = names.length === 0 ? '' : `, flavor ${names.join(' and ')}`;
      return `would run on ${cluster} (${clusterQueue}${flavor})${pods === undefined ? '' : ` with ${pods} pods at once`}`;
    }
    case 'Waiting': {
      const { clusterQueue, position, message } = standing;
      const instead =
        without?.kind === 'Admitted'
          ? `, instead of running on ${without.cluster}`
          : without?.kind === 'Waiting'
            ? ` instead of ${without.position + 1}`
            : '';
      return `would wait in ${clusterQueue}, place ${position + 1}${instead}${message === undefined ? '' : `: ${message}`}`;
    }
    case 'NotQueued':
      return `would wait in no queue (${standing.reason}): ${standing.message}`;
    case 'Stopping':
      return `would be suspended; cluster ${standing.cluster} could not confirm that it has stopped`;
    case 'Ends':
      return `would end as Failed${standing.message === undefined ? '' : `: ${standing.message}`}`;
  }
}

/** Longer lines go on below, further in. */
function wrapped(line: string, width: number): string[] {
  const plain = stripVTControlCharacters(line).replaceAll(/[\n\r\t]+/g, ' ');
  const indent = ' '.repeat(plain.length - plain.trimStart().length);
  const [first = '', ...rest] = wrapAnsi(plain.trimStart(), Math.max(20, width - indent.length - 4), { hard: true }).split('\n');
  return [`${indent}${first}`, ...rest.map((each) => `${indent}    ${each}`)];
}
