import { describe, expect, it } from 'vitest';
import { event } from '../event.ts';
import { given, type Given, type Step } from '../given.cases.ts';
import * as runs from '../runs/say.cases.ts';
import { standingOf } from '../runs/standing.ts';
import * as say from '../say.cases.ts';
import { evolve } from '../state.ts';
import { startWorkflow } from '../workflow/say.cases.ts';

const OFF = false;
const ISSUE = 'W-00001';

const IN_WORKFLOW: readonly Step[] = [
  [startWorkflow('Add a thing'), say.operator],
  [say.claim(ISSUE, 's1', { role: 'issue-manager' }), say.system],
];
const ISSUE_WRITTEN = say.handoff({
  taskId: ISSUE,
  from: 'issue-manager',
  senderRole: 'issue-manager',
  to: 'prep-agent',
  phase: 'DRAFT',
  nextRole: 'prep',
});
const BY_HAND: readonly Step[] = [
  [say.create('A'), say.operator],
  [say.claim('A'), say.worker],
];

describe('if the flag is off', () => {
  it('a session of the built-in workflow must send its exit signal, and cannot end without one', () => {
    const caller = say.session('s1', ISSUE);
    given(IN_WORKFLOW)
      .when(runs.signal('complete', undefined, undefined, OFF), caller)
      .thenRefused('cannot complete: missing exit signal');
    given([...IN_WORKFLOW, [ISSUE_WRITTEN, caller]])
      .when(say.exit('DRAFT'), caller)
      .thenTypes(['AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('a session of the workflow hands on, also a claim by hand that owes nothing: else no role would be next', () => {
    given(IN_WORKFLOW)
      .when(say.exit('DRAFT'), say.session('s1', ISSUE))
      .thenRefused('cannot complete: missing handoff');
    given(IN_WORKFLOW)
      .when(say.exit('DRAFT', 'blocked'), say.session('s1', ISSUE))
      .thenTypes(['AgentSessionCompleted', 'ClaimBlocked', 'PhaseMoved']);
  });

  it('any other session ends with its signal', () => {
    given(BY_HAND)
      .when(runs.signal('complete', undefined, undefined, OFF), say.session())
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('the stop hook names the exit signal to agents of the workflow alone', () => {
    const missing = (task_id: string, { state }: Given): readonly string[] => {
      const task = { task_id, epoch: 1, session_id: 's1' };
      const run = { agent_id: 's1', plan: runs.agentPlan(), owner: null, vars: {}, task, worker: null } as const;
      evolve(state, {
        ...event('AgentRequested', { ...run, on_stop: 'signal' }),
        seq: 9,
        at: '',
        actor: 'system:engine',
      });
      return standingOf(state, 's1', OFF).missing;
    };
    expect(missing(ISSUE, given(IN_WORKFLOW))).toContain('exit signal');
    expect(missing('A', given(BY_HAND))).not.toContain('exit signal');
  });
});
