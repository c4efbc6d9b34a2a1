import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConversationFile } from './conversation.ts';

it.runIf(existsSync('/dev/full'))('goes on while its disk is full, and is whole when there is room', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-conversation-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'scripted-a.json');
  symlinkSync('/dev/full', `${file}.draft`);
  const conversation = new ConversationFile(folder, 'a', false);
  conversation.begin(1);
  expect(conversation.now.position).toBe(1);
  rmSync(`${file}.draft`);
  conversation.add('user', 'go on');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ position: 1, messages: [{ text: 'go on' }] });
});
