import { expect, it } from 'vitest';
import { parseIssueRef } from './github-issues.ts';

it.each([
  ['12', { repository: undefined, number: 12 }],
  [' #12 ', { repository: undefined, number: 12 }],
  ['owner/name#12', { repository: 'owner/name', number: 12 }],
  ['git.example.org/owner/name#12', { repository: 'git.example.org/owner/name', number: 12 }],
  ['https://github.com/owner/name/issues/12', { repository: 'owner/name', number: 12 }],
  ['https://github.com/owner/name/issues/12#issuecomment-1', { repository: 'owner/name', number: 12 }],
  ['https://git.example.org/owner/name/issues/12/', { repository: 'git.example.org/owner/name', number: 12 }],
])('%s is an issue', (typed, expected) => {
  expect(parseIssueRef(typed)).toEqual(expected);
});

it.each([
  '',
  '0',
  '-1',
  'twelve',
  '12.5',
  'https://github.com/owner/name/pull/12',
  'https://github.com/owner/issues/12',
])('%j is none', (typed) => {
  expect(parseIssueRef(typed)).toBeUndefined();
});
