import { describe, expect, it } from 'vitest';
import { parsePrompt } from './parse-prompt.ts';

const text = (words: string) => [{ type: 'text', text: words }];
const command = (words: string) => {
  const parsed = parsePrompt(text(words));
  return parsed.ok ? parsed.command : parsed.error.message;
};

describe('a prompt', () => {
  it.each([
    ['Add a login page', { kind: 'issue', title: 'Add a login page', description: '' }],
    ['Add it\n\nWith a form.\nAnd tests.', { kind: 'issue', title: 'Add it', description: 'With a form.\nAnd tests.' }],
    ['/issue  Add it\nMore', { kind: 'issue', title: 'Add it', description: 'More' }],
    ['/task Tidy up', { kind: 'task', title: 'Tidy up', description: '' }],
    [`/run ship v1.2 "a b" 'c d' --dry`, { kind: 'run', name: 'ship', args: ['v1.2', 'a b', 'c d', '--dry'] }],
    ['/status', { kind: 'status' }],
    ['/follow W-00001', { kind: 'follow', id: 'W-00001' }],
    ['/follow', { kind: 'follow', id: undefined }],
    ['/usr/bin/env is missing', { kind: 'issue', title: '/usr/bin/env is missing', description: '' }],
  ])('%j', (words, expected) => {
    expect(command(words)).toEqual(expected);
  });

  it.each([
    ['', 'the prompt has no text'],
    ['/issue', 'the prompt has no text'],
    ['/run', '/run needs the name of a command or pipeline'],
    ['/deploy now', 'there is no command /deploy'],
  ])('%j is refused', (words, message) => {
    expect(command(words)).toBe(message);
  });

  it('gets a short title if it is one long paragraph, and keeps all of it', () => {
    const long = 'word '.repeat(60).trim();
    expect(command(long)).toMatchObject({ title: expect.stringMatching(/^(word ){20,}word…$/), description: long });
  });

  it('has file mentions where they were typed, and their text below', () => {
    const uri = 'file:///repo/src/time.ts';
    const blocks = [
      { type: 'text', text: 'Fix ' },
      { type: 'resource', resource: { uri, text: 'export const x = 1;' } },
      { type: 'text', text: ' as in ' },
      { type: 'resource_link', uri: 'file:///repo/b.ts', name: 'b.ts' },
    ];
    expect(parsePrompt(blocks)).toMatchObject({
      command: { title: `Fix ${uri} as in file:///repo/b.ts`, description: `${uri}\nexport const x = 1;` },
    });
  });

  it('names a file that is too large, and refuses text that is', () => {
    const resource = { type: 'resource', resource: { uri: 'file:///a', text: 'x'.repeat(20_000) } };
    expect(parsePrompt([...text('Fix it'), resource])).toMatchObject({
      command: { description: 'file:///a (too long to be included here)' },
    });
    expect(parsePrompt(text('x'.repeat(20_000)))).toMatchObject({ ok: false, error: { code: 'too-large' } });
  });

  it('shows invisible characters', () => {
    expect(command('Add\u200B it\u001B[31m')).toMatchObject({ title: 'Add[U+200B] it[U+001B][31m' });
  });

  it('accepts any input', () => {
    for (const prompt of [undefined, null, 'x', [null, 7, { type: 'image' }], [{ type: 'text', text: 7 }]])
      expect(parsePrompt(prompt)).toMatchObject({ ok: false, error: { code: 'acp/usage' } });
  });
});
