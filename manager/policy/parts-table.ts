import { JOB_PARTS, type JobPart } from './job-parts.ts';

/** The lists of docs/security.md, in Markdown: the parts of a Job by whose they are. */
export const partsTable = (): string =>
  (['Switchyard', 'both', 'user'] as const)
    .map((owner) => [HEADINGS[owner], '', ...linesOf(JOB_PARTS.filter((part) => part.owner === owner))].join('\n'))
    .join('\n\n');

const HEADINGS = {
  Switchyard: '**Switchyard’s**, which users do not write, except as it says (policy `own`):',
  both: '**Of both**, under conditions:',
  user: '**The user’s**, which the webhook alone checks:',
} as const;
const SINGULAR = { labels: 'label', annotations: 'annotation', finalizers: 'finalizer' } as const;

function linesOf(parts: readonly JobPart[]): string[] {
  const wishes = parts.filter(({ says }) => says === '').map(({ part }) => `\`${part.name}\``);
  return [
    ...parts.filter(({ says }) => says !== '').map(lineOf),
    ...(wishes.length === 0 ? [] : [`- [what a Job may say](jobs.md#what-a-job-may-say), at any time: ${wishes.join(', ')}.`]),
  ];
}

const lineOf = (part: JobPart): string => `- ${nameOf(part)}: ${part.says}${part.owner === 'both' ? heldBy(part) : ''}`;

const nameOf = ({ part }: JobPart): string => (part.place === 'field' ? part.name : `${SINGULAR[part.place]} \`${part.name}\``);

function heldBy({ rules }: JobPart): string {
  if (rules.length === 0) return '';
  return rules.some(({ policy }) => policy === 'Fail') ? ' Policy `own`.' : ' Policy `shared`.';
}
