import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepCall, removeKept } from '../api/outbox.ts';
import { OutboxLanes } from './outbox-lanes.ts';

function scene() {
  const outbox = mkdtempSync(join(tmpdir(), 'baton-lanes-'));
  onTestFinished(() => rmSync(outbox, { recursive: true }));
  const read: string[] = [];
  const lanes = new OutboxLanes({
    outbox,
    identify: (token) => {
      read.push(token);
      return { caller: { kind: 'supervisor', agentId: token }, project: 'p' };
    },
    sessionOf: (_, caller) => ('agentId' in caller ? caller.agentId : undefined),
  });
  const keep = (token: string, key: string): boolean =>
    keepCall(outbox, { v: 1, operation: 'exit_signal', input: '{}', key, token, projectPath: null, keptAt: '' });
  return { outbox, lanes, keep, read };
}

const FIRST = '000000000001.json';

it('reads each kept call once', () => {
  const { lanes, keep, read } = scene();
  keep('a', 'k1');
  for (let i = 0; i < 3; i += 1) expect(lanes.readLane(FIRST)).toMatchObject({ kind: 'call', project: 'p' });
  expect(read).toEqual(['a']);
  expect(lanes.lanesOf(lanes.scan().files)).toEqual([{ project: 'p', session: 'a' }]);
});

it('reads a file again if another call has its name', () => {
  const { outbox, lanes, keep } = scene();
  keep('a', 'k1');
  lanes.readLane(FIRST);
  removeKept(outbox, FIRST);
  expect(lanes.readLane(FIRST)).toEqual({ kind: 'gone' });
  keep('b', 'k2');
  expect(lanes.readLane(FIRST)).toMatchObject({ id: `${FIRST} k2`, identity: { caller: { agentId: 'b' } } });
});
