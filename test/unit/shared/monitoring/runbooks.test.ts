/** Goal: whoever is woken can type what stands there. */
import { CommanderError } from 'commander';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandTree } from '../../../../manager/cli/command-tree.ts';
import { COMMANDS } from '../../../../manager/cli/commands.ts';
import { SWITCHYARD_KINDS } from '../../../../manager/api/kinds.ts';
import { ALERTS } from '../../../../shared/monitoring/alerts.ts';

const FOLDER = path.join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'runbooks');
const PAGES = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const CHAPTERS = ['## What they show', '## What it means', '## What to do', '## What not to do'];
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');

/** What of kubectl the pages use, with the options that have a value. */
const VERBS = ['get', 'describe', 'logs', 'patch', 'label', 'auth can-i'];
const VALUED = ['-n', '-o', '-l', '--tail', '--field-selector', '--as', '--type', '-p'];
const SWITCHES = ['-A', '--previous', '-w'];
const BUILT_IN = [
  'pods,endpoints,pvc,secrets,leases,lease,jobs,job,events,pod,deploy,certificate,limitranges',
  'validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings',
].flatMap((list) => list.split(','));
const OURS = SWITCHYARD_KINDS.flatMap(({ resource: { kind, plural } }) => [kind.toLowerCase(), plural]);

/** As a shell would split it. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));

function switchyardProblem(line: string): string | undefined {
  let said = '';
  const complain = (text: string): void => void (said += text);
  const options = { name: 'switchyard', version: '0', width: 80, write: complain, complain };
  const chosen: string[] = [];
  try {
    commandTree(COMMANDS, options, ({ command }) => chosen.push(command.words)).parse(wordsOf(line).slice(1), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return `${error.message}${said}`;
  }
  return chosen.length === 1 ? undefined : 'it is no command';
}

function kubectlProblem(line: string): string | undefined {
  const plain: string[] = [];
  const words = wordsOf(line).slice(1);
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!word.startsWith('-')) plain.push(word);
    else if (SWITCHES.includes(word)) continue;
    else if (!VALUED.includes(word.split('=', 1)[0] ?? '')) return `${word} is no option that is known here`;
    else if (!word.includes('=')) index++;
  }
  const text = plain.join(' ');
  const verb = VERBS.find((each) => text.startsWith(`${each} `));
  if (verb === undefined) return `${text} begins with no verb that is known here`;
  const [what = ''] = text
    .slice(verb.length + 1)
    .split(' ', verb === 'auth can-i' ? 2 : 1)
    .slice(-1);
  const resources = what.split('/', 1)[0]?.split(',') ?? [];
  const unknown = resources.filter((each) => !BUILT_IN.includes(each) && !OURS.includes(each));
  return unknown.length === 0 ? undefined : `there is no resource ${unknown.join(', ')}`;
}

const problemOf = (line: string): string | undefined => {
  if (line.startsWith('switchyard ')) return switchyardProblem(line);
  if (line.startsWith('kubectl ')) return kubectlProblem(line);
  return /^redis-cli -u REDIS_URL (info|config|zrevrange)\b/.test(line) ? undefined : 'it is none of our programs';
};

test('every alert has a page, and every page an alert', () => {
  expect(PAGES.map((name) => name.replace('.md', '')).toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
});

describe.each(PAGES)('%s', (name) => {
  const text = read(name);

  test('begins with three commands that exist, and says what they show, what it means, what to do and what not', () => {
    const [, title, block = ''] = /^# (\w+)\n\n```\n([\s\S]*?)\n```\n/.exec(text) ?? [];
    expect(title).toBe(name.replace('.md', ''));
    const commands = block.split('\n');
    expect(commands).toHaveLength(3);
    expect(commands.flatMap((line) => (problemOf(line) === undefined ? [] : `${line}: ${problemOf(line)}`))).toEqual([]);
    expect(text.split('\n').filter((line) => line.startsWith('## '))).toEqual(CHAPTERS);
    const shown = text.slice(text.indexOf(CHAPTERS[0] ?? ''), text.indexOf(CHAPTERS[1] ?? ''));
    expect(['1. ', '2. ', '3. '].filter((number) => !shown.includes(number))).toEqual([]);
  });

  test('the commands in its sentences exist, too', () => {
    const lines = [...text.matchAll(/`((?:switchyard|kubectl) [^`]+)`/g)].map(([, line = '']) => line);
    const told = lines.filter((line) => line.split(' ').length > 2);
    expect(told.flatMap((line) => (problemOf(line) === undefined ? [] : `${line}: ${problemOf(line)}`))).toEqual([]);
  });

  test('its links lead to pages and headings that are there', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)];
    const broken = links.flatMap(([, target = '', heading]) => {
      const file = path.join(FOLDER, target);
      const anchors = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      return heading === undefined || anchors.includes(heading) ? [] : [`${target}#${heading}`];
    });
    expect(broken).toEqual([]);
  });
});
