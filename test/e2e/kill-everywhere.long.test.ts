import { expect, it } from 'vitest';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { findFaults, runAgentKills } from '../faults/agents-kill.ts';
import { isLongRun } from '../processes/long-run.ts';

it('a pipeline has the same end even if the daemon is killed after every entry', async () => {
  const report = await runAgentKills({ every: isLongRun });
  expect(report.faults).toEqual([]);
  // Two pipelines have several commits each, so fewer kills would mean that no kill fell in between.
  expect(report.kills).toBeGreaterThanOrEqual(8);
}, 3_600_000);

it('would detect what is done twice, or ends differently', () => {
  const entry = (type: string, data: Entry['data'] = {}): Entry => {
    return { v: 1, project: 'p', seq: 1, prev: '', at: '', actor: 'system:x', type, cause: null, data };
  };
  const sound = [
    entry('PipelineStarted'),
    ...[1, 2, 3].map(() => entry('StepStarted')),
    ...[1, 2].flatMap(() => [entry('CommandRequested'), entry('CommandFinished')]),
    entry('AgentRequested', { agent_id: 'a' }),
    entry('AgentStarted', { start: 1 }),
    entry('AgentSignalled'),
    entry('AgentEnded', { outcome: 'done' }),
    entry('AgentExited', { start: 1 }),
    ...[1, 2, 3].map(() => entry('StepFinished', { outcome: 'done' })),
    entry('PipelineFinished', { outcome: 'done' }),
    entry('NotificationRequested', { notification_id: 'n' }),
    entry('NotificationSent', { notification_id: 'n', sent: ['webhook'] }),
  ];
  const lines = ['before 1', 'work a', 'after 1'];
  const ran = { entries: sound, heard: ['n'], lines, run: 1, pipeline: 'plain' };
  expect(findFaults(ran)).toEqual([]);
  expect(findFaults({ ...ran, heard: ['n', 'n'] })).toHaveLength(1);
  expect(findFaults({ ...ran, heard: [] })).toHaveLength(1);
  expect(findFaults({ ...ran, lines: [...lines, 'after 1'] })).toHaveLength(1);
  expect(findFaults({ ...ran, lines: ['before 1', 'work a', 'work a', 'after 1'] })).toHaveLength(1);
  expect(findFaults({ ...ran, entries: [...sound, entry('AgentStarted', { start: 1 })] })).toHaveLength(2);
  const failed = sound.map((each) =>
    each.type === 'PipelineFinished' ? entry(each.type, { outcome: 'failed' }) : each,
  );
  expect(findFaults({ ...ran, entries: failed })).toEqual(['it ended done,done,done,done,failed']);
});
