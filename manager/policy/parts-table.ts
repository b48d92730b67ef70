import { JOB_PARTS, type JobPart } from './job-parts.ts';

/** The table of docs/security.md, in Markdown. */
export const partsTable = (): string =>
  [
    '| part of a Job | whose | who may write what | while the manager is down |',
    '| --- | --- | --- | --- |',
    ...JOB_PARTS.map((part) => `| ${nameOf(part)} | ${OWNERS[part.owner]} | ${part.says} | ${heldBy(part)} |`),
  ].join('\n');

const OWNERS = { Switchyard: 'Switchyard’s', user: 'the user’s', both: 'both’s, under conditions' } as const;
const SINGULAR = { labels: 'label', annotations: 'annotation', finalizers: 'finalizer' } as const;

const nameOf = ({ part }: JobPart): string => (part.place === 'field' ? part.name : `${SINGULAR[part.place]} \`${part.name}\``);

function heldBy({ rules }: JobPart): string {
  if (rules.length === 0) return '';
  return rules.some(({ policy }) => policy === 'Fail') ? 'policy `own`' : 'policy `shared`';
}
