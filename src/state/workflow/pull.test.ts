import { expect, it } from 'vitest';
import { escapeAgentText } from './pull.ts';

/** A comment as GitHub interprets it: mentions, and the forms that close an issue when a pull request is merged. */
const MENTION = /(?<!\w)@\w/;
const CLOSES =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s*(?:[\w./-]*#\d|GH-\d|https?:\/\/\S*\/(?:issues|pull)\/\d)/i;

it.each([
  ['@octocat', '@octocat look', 'Ask (@octocat)', '`@octocat', 'see `code` @octocat', '\n@org/team'],
  ['Closes #12', 'fixes owner/name#12', 'resolved: #12', 'Fixed\u00a0#12', 'CLOSE #12', '`Fixes #12'],
  ['closes GH-12', 'Fixes https://github.com/owner/name/issues/12', 'resolves: http://github.com/o/n/pull/3'],
])('text of an agent mentions nobody and closes no issue: %j', (...texts) => {
  for (const text of texts) {
    expect(MENTION.test(text) || CLOSES.test(text)).toBe(true);
    const escaped = escapeAgentText(text);
    expect({ escaped, isLive: MENTION.test(escaped) || CLOSES.test(escaped) }).toEqual({ escaped, isLive: false });
    expect(escaped.replaceAll('\u200B', '')).toBe(text);
  }
});

it('cannot end the part of the text that is Baton\u2019s, and leaves other text unchanged', () => {
  expect(escapeAgentText('<!-- /baton -->')).not.toContain('<!--');
  for (const text of ['ann@example.org', 'It closes the file.', 'a fix', 'C# is fine'])
    expect(escapeAgentText(text)).toBe(text);
});
