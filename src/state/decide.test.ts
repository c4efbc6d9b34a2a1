import { describe, expect, it } from 'vitest';
import { commandAccess } from '../protocol/command-access.ts';
import type { Caller } from './caller.ts';
import { actorOf } from './caller.ts';
import { decide, type Command } from './decide.ts';
import { given, OPEN } from './given.cases.ts';
import * as fleet from './fleet/say.cases.ts';
import * as runs from './runs/say.cases.ts';
import * as flow from './workflow/say.cases.ts';
import * as say from './say.cases.ts';
import { addPageKey, claim, create, ofPage, operator, PAGE_KEY, session, system, worker } from './say.cases.ts';

const COMMANDS: Readonly<Record<Command['kind'], readonly [Command, ...Caller['kind'][]]>> = {
  'create-task': [create('Z'), 'operator', 'system', 'session'],
  'import-tasks': [{ kind: 'import-tasks', command: { source: 'x', tasks: [] } }, 'operator'],
  'add-dependency': [say.depend('A', 'B'), 'operator', 'system'],
  'claim-task': [claim('B', 's2'), 'operator', 'system', 'worker'],
  'release-claim': [say.release(), 'operator', 'session'],
  'expire-claim': [say.expire(), 'system'],
  'update-task': [say.update('in_progress'), 'operator', 'session'],
  'record-thought': [say.record(), 'operator', 'worker', 'session', 'agent'],
  'complete-task': [say.complete(), 'operator', 'session'],
  'operate-task': [say.operate('cancel'), 'operator'],
  'waive-constraint': [say.waive('max_files'), 'operator'],
  'move-task-rules': [say.moveRules('A'), 'operator'],
  'note-task': [say.note('look here'), 'operator'],
  'count-task': [{ kind: 'count-task', command: { taskId: 'A' } }, 'operator'],
  'self-approve': [{ kind: 'self-approve', command: { id: 'A', reason: 'alone' } }, 'operator'],
  'exit-session': [say.exit(), 'session'],
  'submit-result': [say.result(), 'session'],
  'send-handoff': [say.handoff(), 'operator', 'session'],
  'start-audit': [say.startAudit(), 'operator', 'session'],
  'verify-audit': [{ kind: 'verify-audit', command: { auditId: 'a0', size: 1, root: '' } }, 'operator', 'session'],
  seal: [say.seal, 'operator', 'system', 'session'],
  'start-pipeline': [runs.startPipeline(), 'operator', 'system'],
  'start-agent': [runs.startAgent(), 'operator', 'system'],
  'configure-workers': [runs.configure([]), 'operator', 'system'],
  'signal-agent': [runs.signal('continue', 'a1'), 'operator', 'session', 'agent', 'supervisor'],
  'report-agent': [runs.report({ kind: 'stop' }, 'a1'), 'operator', 'system', 'session', 'agent', 'supervisor'],
  'report-started': [runs.started('a1'), 'system'],
  'report-start-failed': [runs.startFailed('a1'), 'system'],
  'finish-command': [runs.finish('a1'), 'system', 'supervisor'],
  'fire-timer': [runs.fire('t1'), 'system'],
  'deliver-message': [runs.deliver('m1'), 'system'],
  'prepare-workspace': [runs.prepared('p1', 'x'), 'system'],
  'workspace-failed': [runs.unprepared('p1', 'x'), 'system'],
  'notification-sent': [runs.notified('n1'), 'system'],
  'raise-findings': [runs.raise([]), 'system'],
  'resolve-decision': [runs.resolve('d1', 1), 'operator'],
  'answer-decisions': [{ kind: 'answer-decisions', command: { answers: [], effectiveAt: '' } }, 'operator'],
  'undo-answer': [runs.undo('d1'), 'operator'],
  'apply-answer': [runs.applyAnswer('d1', 1), 'system'],
  'cancel-pipeline': [runs.cancel('p1'), 'operator', 'system'],
  'retry-pipeline': [runs.retry('p1'), 'operator'],
  'acknowledge-run': [runs.acknowledge('p1'), 'operator'],
  'resume-pipeline': [runs.resume('p1'), 'operator'],
  'send-message': [runs.send('a1', 'hello'), 'operator', 'system'],
  'kill-agent': [runs.kill('a1'), 'operator', 'system'],
  'attach-agent': [runs.attach('a1'), 'operator'],
  'name-branch': [flow.nameBranch('A', 1, 'feature/a'), 'system'],
  'prepare-session': [flow.prepare('A', 1), 'system'],
  'measure-session': [say.measure('s1'), 'system'],
  'finish-check': [flow.finishCheck('c1', 'test', 'passed'), 'system'],
  'request-merge': [flow.askMerge('A'), 'operator', 'system', 'session'],
  'prepare-merge': [flow.prepareMerge('m1', 'f'.repeat(40)), 'system'],
  'measure-protected': [flow.measureProtected('A', []), 'system'],
  'observe-branch': [flow.observeBranch('A', 'b'.repeat(40)), 'system'],
  'finish-merge': [flow.finishMerge('m1', 'merged', 'f'.repeat(40)), 'system'],
  'see-main': [flow.seeMain('1'.repeat(40)), 'system'],
  'publish-pull': [flow.publishPull('x1'), 'system'],
  'fail-pull': [flow.failPull('x1'), 'system'],
  'close-pull': [flow.closePull('x1', 7), 'system'],
  'close-github-issue': [flow.closeIssue('x1'), 'system'],
  'clear-place': [{ kind: 'clear-place', command: { task_id: 'A', outcome: 'removed', reason: null } }, 'system'],
  'start-workflow': [flow.startWorkflow('do it'), 'operator', 'system'],
  'adopt-runbook': [flow.adopt('1'.repeat(64)), 'operator', 'system'],
  'ask-adoption': [flow.askAdoption('1'.repeat(64)), 'system'],
  'drop-adoption-questions': [{ kind: 'drop-adoption-questions', command: null }, 'system'],
  'decline-checks': [{ kind: 'decline-checks', command: { by: 'operator:ann' } }, 'operator'],
  'found-fleet': [fleet.found(), 'system'],
  'admit-host': [fleet.admit(), 'operator'],
  'drain-host': [fleet.drain(), 'operator'],
  'remove-host': [fleet.remove(), 'operator'],
  'change-caretaker': [fleet.care('alpha', 1), 'system'],
  'change-remote': [{ kind: 'change-remote', command: { remote: fleet.REMOTE, by: 'operator:ann' } }, 'operator'],
  'raise-level': [{ kind: 'raise-level', command: { level: 2 } }, 'system'],
  'report-push': [fleet.pushed('alpha'), 'system'],
  'accept-store': [
    { kind: 'accept-store', command: { size: 2, hash: 'ab', differs_at: 1, by: 'operator:ann' } },
    'operator',
  ],
  'add-page-key': [addPageKey, 'operator'],
  'revoke-page-key': [{ kind: 'revoke-page-key', command: { key_id: PAGE_KEY, reason: 'x' } }, 'operator', 'system'],
};

describe('who may send which command', () => {
  const callers = [operator, system, session(), worker, runs.agent(), runs.supervisor()];
  const { state } = given([
    [create('A'), operator],
    [create('B'), operator],
    [claim('A', 's1', { role: 'implementer' }), worker],
  ]);
  const table = Object.values(COMMANDS).flatMap(([command, ...allowed]) =>
    callers.map((caller) => [caller.kind, command.kind, allowed.includes(caller.kind), command, caller] as const),
  );

  it.each(table)('%s, %s: %s', (kind, what, allowed, command, caller) => {
    const outcome = decide(state, command, caller, OPEN, undefined);
    const isForbidden = !outcome.ok && outcome.refusal.code === 'forbidden';
    const message = isForbidden ? outcome.refusal.message : '';
    expect(message).toBe(allowed ? '' : `the token of this ${kind} does not allow ${what}`);
  });

  it('names every command', () => {
    expect(Object.keys(COMMANDS)).toEqual(Object.keys(commandAccess));
  });
});

describe('the ledger names', () => {
  it('sessions, operators and Baton itself with its supervisors; a worker counts as an operator', () => {
    expect([operator, ofPage, worker, system, session(), runs.agent(), runs.supervisor()].map(actorOf)).toEqual([
      'operator:ann',
      `operator:ann/${PAGE_KEY}`,
      'operator:bob',
      'system:clock',
      'session:s1',
      'session:a1',
      'system:supervisor',
    ]);
  });
});
