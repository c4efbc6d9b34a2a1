import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AgentLine } from './agent-line.ts';

function makeLog(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-line-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'output.log');
}

it('is the newest line with text, while the log grows', () => {
  const log = makeLog();
  const line = new AgentLine('a1', 'scripted x.yaml', log);
  expect(line.read()).toBeUndefined();
  writeFileSync(log, 'I read the mission\n\n');
  expect(line.read()).toBe('I read the mission');
  appendFileSync(log, 'I have no end yet');
  expect(line.read()).toBe('I read the mission');
  appendFileSync(log, ', now I do\u001B[2J\n');
  expect(line.read()).toBe('I have no end yet, now I do');
});

it('is text also if the client prints JSON', () => {
  const log = makeLog();
  const said = { type: 'assistant', message: { content: [{ type: 'text', text: 'I look at the tests.' }] } };
  // The start is outside the part that is read.
  writeFileSync(log, `${'x'.repeat(300_000)}\n${JSON.stringify(said)}\n`);
  expect(new AgentLine('a1', 'claude', log).read()).toContain('I look at the tests.');
});
