import { expect, it } from 'vitest';
import { renderBell, renderNotificationLine, terminalChannel } from './terminal.ts';

const hostile = {
  id: '1',
  kind: 'attention',
  title: 'Agent needs attention: a\u0007\u001B]52;c;cGFzdGU=\u0007b',
  message: 'first\nsecond \u001B[2J',
} as const;

it('prints one line in the terminal of a foreground daemon', async () => {
  const lines: string[] = [];
  const channel = terminalChannel({ say: (line) => lines.push(line) });
  expect(await channel.send(hostile)).toEqual({ ok: true });
  expect(lines).toEqual(['Agent needs attention: ab: first second\n']);
});

it('succeeds without a terminal, because watchers see the record', async () => {
  expect(await terminalChannel({}).send(hostile)).toEqual({ ok: true });
});

it('rings with OSC 9 and a bell, and no text can end the sequence early', () => {
  const text = renderBell(hostile);
  expect(text.startsWith('\u001B]9;Baton: Agent needs attention')).toBe(true);
  expect(text.endsWith('\u0007\u0007')).toBe(true);
  // oxlint-disable-next-line no-control-regex
  expect(text.match(/[\u0000-\u001F]/g)).toEqual(['\u001B', '\u0007', '\u0007']);
});

it('contains the link', () => {
  expect(renderNotificationLine({ title: 'Done', message: '', url: 'http://localhost/1' })).toBe(
    'Done: http://localhost/1',
  );
});
