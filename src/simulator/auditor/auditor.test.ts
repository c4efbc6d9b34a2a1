import { describe, expect, it } from 'vitest';
import { Auditor } from './auditor.ts';
import type { AuditedEntry } from './entry.ts';

const MERGED = { type: 'MergeFinished', merge_id: 'm', task_id: 'A', outcome: 'merged' };

/** A commit of entries, by type and data. */
function read(auditor: Auditor, entries: readonly Said[]): void {
  auditor.read(entries.map((said) => entryOf(said)));
}

type Said = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly by?: string;
  readonly cause?: number;
};

let seq = 0;

function entryOf({ type, by = 'system:clock', cause = 0, ...data }: Said): AuditedEntry {
  seq += 1;
  return { seq, at: '2026-01-01T00:00:00.000Z', actor: by, type, cause, data };
}

function begin(): Auditor {
  seq = 0;
  const auditor = new Auditor();
  const commits = { base: 'operator:ann', work: 'agent:coder' };
  auditor.watch(
    {
      wasOnMain: (sha) => sha === 'base' || sha === 'merge',
      treeOf: (sha) => ({ file: sha }),
      isAncestor: (older, newer) => older === newer || older === 'base',
      since: () => [{ sha: 'work', author: commits.work }],
      mergeBase: () => 'base',
    },
    { required: ['unit'], taskTokens: 100, tasks: { number: 1, depth: 1 }, judges: 'proven', doClocksJump: false },
  );
  read(auditor, [{ type: 'TaskCreated', task_id: 'A', phase: 'IMPLEMENTATION', next_role: null, after: [] }]);
  return auditor;
}

const claim = (epoch: number, principal = 'agent:coder'): Said => {
  return { type: 'TaskClaimed', task_id: 'A', epoch, session_id: `s${epoch}`, principal, role: null };
};
const end = (epoch: number): Said => ({ type: 'ClaimCompleted', task_id: 'A', epoch, session_id: `s${epoch}` });
const move = (from: string, to: string, by = 'system:clock'): Said => {
  return { type: 'PhaseMoved', task_id: 'A', from, to, next_role: null, cause: 0, by };
};
const record: Said = { type: 'ThoughtRecorded', task_id: 'A', epoch: 1, record: { commit_sha: 'work' } };

/** Work that another principal approves, up to the merge. */
function mergeBy(auditor: Auditor, approver: string, { isChecked = true, isRecorded = true } = {}): void {
  auditor.checked('unit', { file: 'work' }, true);
  read(auditor, [claim(1), ...(isRecorded ? [record] : []), end(1), move('IMPLEMENTATION', 'READY_FOR_REVIEW')]);
  read(auditor, [claim(2, approver), move('READY_FOR_REVIEW', 'REVIEW')]);
  read(auditor, [end(2), move('REVIEW', 'READY_FOR_MERGE', 'session:s2')]);
  if (isChecked) auditor.checked('unit', { file: 'merge' }, true);
  read(auditor, [{ type: 'MergeRequested', task_id: 'A', merge_id: 'm', head: 'work' }]);
  read(auditor, [{ ...MERGED, head: 'work', merge_sha: 'merge', base: 'base' }, move('READY_FOR_MERGE', 'COMPLETED')]);
}

describe('the auditor', () => {
  it('accepts work that was recorded, checked, approved by another principal and merged', () => {
    const auditor = begin();
    mergeBy(auditor, 'agent:reviewer');
    expect(auditor.violation).toBeUndefined();
  });

  it.each<readonly [string, string, (auditor: Auditor) => void]>([
    ['a second live claim', 'claim', (auditor) => read(auditor, [claim(1), claim(2)])],
    ['an epoch that does not grow', 'claim', (auditor) => read(auditor, [claim(2), end(2), claim(2)])],
    ['a claim that ends twice', 'claim', (auditor) => read(auditor, [claim(1), end(1), end(1)])],
    [
      'a record of a session that has ended',
      'claim',
      (auditor) => read(auditor, [claim(1), end(1), claim(2), { ...record, by: 'session:s1' }]),
    ],
    ['an approval by the author', 'done', (auditor) => mergeBy(auditor, 'agent:coder')],
    [
      'an approval that the code under judgement sent',
      'done',
      (auditor) => {
        auditor.forged('s2');
        mergeBy(auditor, 'agent:reviewer');
      },
    ],
    ['a merged tree that no check saw', 'done', (auditor) => mergeBy(auditor, 'agent:reviewer', { isChecked: false })],
    ['work without a record', 'done', (auditor) => mergeBy(auditor, 'agent:reviewer', { isRecorded: false })],
    ['completion without a merge', 'done', (auditor) => read(auditor, [record, move('IMPLEMENTATION', 'COMPLETED')])],
    [
      'work that comes to review around the checks',
      'done',
      (auditor) => read(auditor, [claim(1), record, end(1), move('IMPLEMENTATION', 'READY_FOR_MERGE')]),
    ],
    [
      'a session that begins without the work',
      'base',
      (auditor) =>
        read(auditor, [
          claim(1),
          { type: 'SessionMeasured', task_id: 'A', epoch: 1, head: 'work' },
          { type: 'SessionPrepared', task_id: 'A', epoch: 1, base: 'elsewhere' },
        ]),
    ],
    [
      'a message that is recorded twice',
      'message',
      (auditor) =>
        read(auditor, [
          { ...record, settles: { key: 'k' } },
          { ...record, settles: { key: 'k' } },
        ]),
    ],
    [
      'an effect with two outcomes',
      'effect',
      (auditor) =>
        read(auditor, [
          { type: 'CommandRequested', command_id: 'c', subject: {} },
          { type: 'CommandFinished', command_id: 'c' },
          { type: 'CommandFinished', command_id: 'c' },
        ]),
    ],
    ['an outcome that nobody requested', 'cause', (auditor) => read(auditor, [{ type: 'TimerFired', timer_id: 't' }])],
    [
      'an entry of the engine without a cause',
      'cause',
      (auditor) => auditor.read([{ ...entryOf({ type: 'TaskHeld', by: 'system:engine', task_id: 'A' }), cause: null }]),
    ],
    [
      'a decision that nobody answered',
      'decision',
      (auditor) =>
        read(auditor, [
          { type: 'DecisionOpened', decision_id: 'd', task_id: 'A' },
          { type: 'DecisionResolved', decision_id: 'd', by: 'system:engine' },
        ]),
    ],
    [
      'a question of a result that reaches nobody',
      'decision',
      (auditor) =>
        read(auditor, [
          { type: 'ResultSubmitted', task_id: 'A', result: { issues: [{ type: 'question', description: 'Which?' }] } },
        ]),
    ],
    [
      'a blocked workflow about which nobody is asked',
      'mover',
      (auditor) => read(auditor, [{ type: 'WorkflowStarted', task_id: 'A' }, move('IMPLEMENTATION', 'BLOCKED')]),
    ],
    [
      'an agent that waits for a decision that is over',
      'mover',
      (auditor) =>
        read(auditor, [
          { type: 'AgentRequested', agent_id: 'a', task: null },
          { type: 'AgentStarted', agent_id: 'a', start: 1 },
          { type: 'DecisionOpened', decision_id: 'd', agent_id: 'a' },
          { type: 'AgentParked', agent_id: 'a', decision_id: 'd' },
          { type: 'DecisionWithdrawn', decision_id: 'd' },
        ]),
    ],
    [
      'a budget that is exceeded by more than one request',
      'budget',
      (auditor) => {
        auditor.used(50);
        read(auditor, [
          { type: 'AgentRequested', agent_id: 'a', task: { task_id: 'A', session_id: 's1' } },
          { type: 'AgentStarted', agent_id: 'a', start: 1 },
          { type: 'SessionUsed', agent_id: 'a', input_tokens: 151, output_tokens: 0 },
        ]);
      },
    ],
    [
      'a task of a session that is more urgent than its own',
      'family',
      (auditor) => read(auditor, [{ type: 'TaskCreated', task_id: 'B', priority: 1, made_by: { task_id: 'A' } }]),
    ],
    [
      'more tasks of sessions than a person allowed',
      'family',
      (auditor) =>
        read(
          auditor,
          ['B', 'C'].map((task_id) => ({ type: 'TaskCreated', task_id, priority: 0, made_by: { task_id: 'A' } })),
        ),
    ],
    [
      'a task of a task of a session that nobody was asked about',
      'family',
      (auditor) =>
        read(auditor, [
          { type: 'TaskCreated', task_id: 'B', priority: 0, made_by: { task_id: 'A' }, accepted_by: 'operator:ann' },
          { type: 'TaskCreated', task_id: 'C', priority: 0, made_by: { task_id: 'B' } },
        ]),
    ],
    [
      'a budget that is exceeded by the tasks of a task together',
      'budget',
      (auditor) => {
        auditor.used(50);
        read(auditor, [
          { type: 'TaskCreated', task_id: 'B', priority: 0, made_by: { task_id: 'A' } },
          ...['A', 'B'].flatMap((task_id) => [
            { type: 'AgentRequested', agent_id: task_id, task: { task_id, session_id: task_id } },
            { type: 'SessionUsed', agent_id: task_id, input_tokens: 80, output_tokens: 0 },
          ]),
        ]);
      },
    ],
    [
      'a packet without a note',
      'packet',
      (auditor) => {
        auditor.noted('A', 'look here');
        auditor.packet('A', 'nothing');
      },
    ],
    [
      'a kept message that is never delivered',
      'message',
      (auditor) => {
        auditor.kept('k');
        auditor.endOfRound(false);
      },
    ],
    [
      'an effect that is still owed when nothing happens any more',
      'liveness',
      (auditor) => {
        read(auditor, [{ type: 'NotificationRequested', notification_id: 'n' }]);
        auditor.endOfRound(false);
      },
    ],
    [
      'a claim that nobody ends',
      'liveness',
      (auditor) => {
        read(auditor, [claim(1)]);
        auditor.endOfRound(false);
      },
    ],
  ])('reports %s', (_what, invariant, say) => {
    const auditor = begin();
    say(auditor);
    expect(auditor.violation?.invariant).toBe(invariant);
  });
});
