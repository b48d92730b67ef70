import { describe, expect, test } from 'vitest';
import {
  ATTACHMENTS_BYTES_MAX,
  ATTACHMENTS_MAX,
  attachedText,
  submittedNames,
  readAttachments,
  withAttached,
} from '../../../../manager/api/attachments.ts';
import { contentDigest } from '../../../../manager/api/content-digest.ts';
import { formatProblems } from '../../../../manager/api/field-problem.ts';
import { carriedReferences, type PodReference } from '../../../../manager/api/pod-references.ts';
import { ATTACHMENTS_ANNOTATION } from '../../../../shared/api/names.ts';

const problemsOf = (value: unknown): string => {
  const read = readAttachments(value);
  return read.kind === 'Refused' ? formatProblems(read.problems) : 'taken';
};

describe('attachments of a submission', () => {
  test('are ConfigMaps with texts and bytes', () => {
    const attachments = [{ name: 'settings', data: { 'a.conf': 'x' }, binaryData: { b: 'AAE=' } }, { name: 'empty' }];
    expect(readAttachments(attachments)).toEqual({ kind: 'Attachments', attachments });
    expect(readAttachments(undefined)).toEqual({ kind: 'Attachments', attachments: [] });
    expect(problemsOf([])).toBe('taken');
    expect(problemsOf([{ name: 'n'.repeat(240) }])).toBe('taken');
  });

  test.each([
    [{ name: 'settings' }, /^attachments: is no list; write \[\{name, data, binaryData}], or leave it out$/],
    [null, /^attachments: is no list/],
    [['settings'], /^attachments\[0]: is no object/],
    [[{ data: {} }], /^attachments\[0]\.name: is missing/],
    [[{ name: 7 }], /^attachments\[0]\.name: is missing/],
    [[{ name: 'Settings' }], /^attachments\[0]\.name: a lowercase RFC 1123 subdomain/],
    [[{ name: '../up' }], /^attachments\[0]\.name: a lowercase RFC 1123 subdomain/],
    [[{ name: 'n'.repeat(241) }], /^attachments\[0]\.name: has 241 characters, and at most 240 are taken; give it a shorter one$/],
    [[{ name: 'a' }, { name: 'a' }], /^attachments\[1]\.name: "a" is there twice; put both into one$/],
    [[{ name: 'a', namespace: 'kube-system' }], /^attachments\[0]\.namespace: is unknown; an attachment is a ConfigMap of name, data and/],
    [[{ name: 'a', metadata: { ownerReferences: [] } }], /^attachments\[0]\.metadata: is unknown/],
    [[{ name: 'a', kind: 'Secret' }], /^attachments\[0]\.kind: is unknown/],
    [[{ name: 'a', data: ['x'] }], /^attachments\[0]\.data: is no object of texts$/],
    [[{ name: 'a', data: { x: 1 } }], /^attachments\[0]\.data\[x]: is no text; put it in quotes$/],
    [[{ name: 'a', data: { 'a/b': '' } }], /^attachments\[0]\.data\[a\/b]: a valid config key/],
    [[{ name: 'a', data: { '..': '' } }], /^attachments\[0]\.data\[\.\.]: /],
    [[{ name: 'a', data: { x: '\ud800' } }], /^attachments\[0]\.data\[x]: has half of a surrogate pair; give it as binaryData$/],
    [[{ name: 'a', binaryData: { x: 'no base64' } }], /^attachments\[0]\.binaryData\[x]: is no base64$/],
    [[{ name: 'a', binaryData: { x: 'AAE' } }], /^attachments\[0]\.binaryData\[x]: is no base64$/],
    [[{ name: 'a', data: { x: '' }, binaryData: { x: '' } }], /^attachments\[0]\.binaryData\[x]: is in data as well/],
  ])('are refused where they are none: %j', (value, problem) => {
    expect(problemsOf(value)).toMatch(problem);
  });

  test('are bounded in number and in bytes together', () => {
    const many = Array.from({ length: ATTACHMENTS_MAX + 1 }, (_, index) => ({ name: `a${index}` }));
    expect(problemsOf(many)).toBe('attachments: has 9 ConfigMaps, and at most 8 are taken; put several files into one');
    const half = 'x'.repeat(ATTACHMENTS_BYTES_MAX / 2);
    const two = [
      { name: 'a', data: { x: half } },
      { name: 'b', binaryData: { x: Buffer.from(half).toString('base64') } },
    ];
    expect(problemsOf(two)).toBe('taken');
    expect(problemsOf([...two, { name: 'c', data: { x: 'é' } }])).toBe(
      'attachments: have 1048578 bytes, and at most 1048576 are taken; put large files into an image or a volume',
    );
  });
});

describe('the references of an object with attachments', () => {
  const digest = contentDigest({ data: { a: '1' } });
  const metadata = { annotations: { [ATTACHMENTS_ANNOTATION]: attachedText({ 'settings-0123456789ab': digest }) } };
  const references: readonly PodReference[] = [
    { kind: 'ConfigMap', name: 'settings-0123456789ab', optional: true },
    { kind: 'ConfigMap', name: 'common', optional: true },
    { kind: 'Secret', name: 'settings-0123456789ab', optional: false },
  ];

  test('to them always travel and are never optional, and others do as the queue says', () => {
    const found = withAttached(references, metadata);
    expect(found).toEqual([{ kind: 'ConfigMap', name: 'settings-0123456789ab', optional: false, content: digest }, ...references.slice(1)]);
    expect(carriedReferences(found, [])).toEqual(found.slice(0, 1));
    expect(carriedReferences(found, ['ConfigMaps'])).toEqual(found.slice(0, 2));
  });

  test('have the names that their submission gave, where it is asked for', () => {
    expect(references.map((reference) => submittedNames(metadata)?.(reference))).toEqual(['settings', undefined, undefined]);
  });

  test.each(['', 'no JSON', '[]', '{"settings-0123456789ab": 1}', '{}'])('are those of any other where the annotation is %j', (text) => {
    const wrong = { annotations: { [ATTACHMENTS_ANNOTATION]: text } };
    expect(withAttached(references, wrong)).toEqual(references);
    expect(submittedNames(wrong)).toBeUndefined();
  });
});
