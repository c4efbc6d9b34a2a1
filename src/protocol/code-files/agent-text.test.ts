import { expect, it } from 'vitest';
import { isAgentText } from './agent-text.ts';

const PATH = '.claude/agents/reviewer.md';
const TEXT = '---\nname: reviewer\ndescription: Reviews a change.\nmodel: opus\ncolor: pink\n---\n\nRun `npm test`.\n';

it('an agent with a name and a model is a text for a model', () => {
  expect(isAgentText(PATH, TEXT)).toBe(true);
  expect(isAgentText('packages/a/.claude/agents/team/a.md', TEXT)).toBe(true);
  expect(isAgentText(PATH, null)).toBe(true);
});

it.each([
  ['hooks', 'color: pink\nhooks:\n  PreToolUse: []'],
  ['tools', 'color: pink\ntools: Bash'],
  ['a server', 'color: pink\nmcpServers: x'],
  ['permissions', 'color: pink\npermissionMode: bypassPermissions'],
  ['a value over two lines', 'color: pink\n  hooks: x'],
  ['a value in a block', 'color: |'],
  ['a map', 'color: {hooks: x}'],
  ['a tag', 'color: !x y'],
  ['a character that ends a line for some', 'color: pink\u2028hooks: x'],
  ['a carriage return', 'color: pink\rhooks: x'],
  ['a second document', 'color: pink\n--- \nhooks: x'],
])('but not with %s', (_, by) =>
  expect(
    isAgentText(
      PATH,
      TEXT.replace('color: pink', () => by),
    ),
  ).toBe(false),
);

it.each([
  ['.claude/settings.json', '{}'],
  ['.claude/commands/a.md', TEXT],
  ['.claude/hooks/agents/a.md', TEXT],
  ['.claude/agents/a.sh', TEXT],
  [PATH, 'no fields\n'],
  [PATH, '---\nname: a\n'],
  [PATH, undefined],
])('%s is none', (path, text) => expect(isAgentText(path, text)).toBe(false));
