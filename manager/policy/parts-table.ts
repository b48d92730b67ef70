import { JOB_PARTS, type JobPart } from './job-parts.ts';

/** The table of docs/security.md, in Markdown. */
export const partsTable = (): string =>
  [
    '| part of a Job | whose | what it is, and who may write it | policy |',
    '| --- | --- | --- | --- |',
    ...JOB_PARTS.map((part) => `| ${nameOf(part)} | ${OWNERS[part.owner]} | ${part.says} | ${heldBy(part)} |`),
  ].join('\n');

const OWNERS = { Switchyard: 'Switchyard', user: 'user', both: 'both' } as const;
const SINGULAR = { labels: 'label', annotations: 'annotation', finalizers: 'finalizer' } as const;

const nameOf = ({ part }: JobPart): string => (part.place === 'field' ? part.name : `${SINGULAR[part.place]} \`${part.name}\``);

function heldBy({ rules }: JobPart): string {
  if (rules.length === 0) return '';
  return rules.some(({ policy }) => policy === 'Fail') ? '`own`' : '`shared`';
}
