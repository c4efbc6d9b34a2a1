import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import type { Answer } from '../../api/answer.ts';
import { filesIn } from '../contract.ts';
import { Tail } from '../process/output.ts';
import { launchIn, Scene } from '../scene.cases.ts';
import { StreamMonitor } from './stream-monitor.ts';

const MESSAGE = {
  type: 'assistant',
  message: { id: 'm1', content: [{ type: 'text', text: 'x' }], usage: { input_tokens: 10, output_tokens: 1 } },
};

it('waits for the answer to a report, which decides whether the agent may continue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-hearing-'));
  await using scene = new Scene();
  const answered = Promise.withResolvers<Answer>();
  const reports: string[] = [];
  const hearing = new StreamMonitor({
    launch: { ...launchIn(scene), output: 'stream-json' },
    files: filesIn(folder),
    tail: new Tail(100),
    report: async ({ kind }) => (reports.push(kind), answered.promise),
    isHeld: () => false,
    onProgress: () => {},
    onBatonCall: () => {},
    onTurnEnd: () => {},
    silence: { onActivity: () => {}, onRetry: () => {}, toolStarted: () => {}, toolEnded: () => {} },
  });
  hearing.scanner.push(Buffer.from('{"type":"system","subtype":"init","session_id":"c1","model":"m"}\n'));
  hearing.scanner.push(Buffer.from(`${JSON.stringify(MESSAGE)}\n`));
  await until('it is told', () => reports.length > 0);
  let isThrough = false;
  const stop = hearing.beforeStop(undefined).then(() => (isThrough = true));
  for (let i = 0; i < 5; i += 1) await turn();
  expect(isThrough).toBe(false);
  answered.resolve({ ok: true, result: null });
  await stop;
  expect(reports).toEqual(['used']);
  rmSync(folder, { recursive: true });
});
