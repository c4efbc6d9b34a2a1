import { describe, expect, it } from 'vitest';
import type { Constraint } from '../protocol/agent-session-completed.ts';
import type { Rules } from '../state/rules.ts';
import * as say from '../state/say.cases.ts';
import { system } from '../state/say.cases.ts';
import { findReleasedTasks } from '../state/tasks/task-rules.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const [OLD, NEW] = ['1'.repeat(64), '2'.repeat(64)];
const HEAD = 'a'.repeat(40);
const LIMITS = { max_files: 3, no_new_deps: true };

/** A workflow of a runbook with limits, whose implementer changed five files and says that it has completed the work. */
class LimitedPlay extends WorkflowPlay {
  constructor(then: Rules['constraints'] = {}, broken: readonly Constraint[] = ['max_files']) {
    const adopted = new Map<string, Rules>();
    super({ ciGate: false, checks: [], adopted });
    const shared = { ciGate: true, mergeGate: true, checks: [{ name: 'unit', run: 'npm test' }], adopted };
    adopted.set(OLD, { ...shared, constraints: LIMITS });
    adopted.set(NEW, { ...shared, constraints: then });
    this.order(flow.adopt(OLD)).order(flow.startWorkflow('Another'));
    this.turn('issue-manager').turn('prep');
    if (broken.length > 0) this.violate(broken);
  }

  violate(broken: readonly Constraint[], reason: 'completed' | 'blocked' = 'completed', count = 5): this {
    const caller = this.claim('implementer');
    const { epoch } = this.task;
    this.say(flow.prepare(this.id, epoch), system).say(say.record({ task_id: this.id }), caller);
    this.say(say.handoff({ taskId: this.id, ...TO_REVIEW }), caller);
    const measured = { ...flow.measuredAt(HEAD), file_count: 2, whole_file_count: count, broken };
    const violations = broken.map((name) => `${name}: x`);
    return this.say(
      say.exit('IMPLEMENTATION', reason, { eventId: 'e', committed: true, measured, violations }),
      caller,
    );
  }

  /** The open workflows that the runbook would release if it were adopted. */
  releases(): readonly string[] {
    this.order(flow.adopt(NEW));
    return findReleasedTasks(this.state, this.rules.adopted?.get(NEW) ?? this.rules);
  }

  override get id(): string {
    return 'W-00002';
  }
}

const TO_REVIEW = {
  from: 'implementer-agent',
  senderRole: 'implementer',
  to: 'reviewer-agent',
  phase: 'CI_PENDING',
  nextRole: 'reviewer',
} as const;

describe('the adoption of other limits', () => {
  it.each<[string, LimitedPlay, boolean]>([
    ['a limit as high as the work', new LimitedPlay({ max_files: 5, no_new_deps: true }), true],
    ['no limit', new LimitedPlay({}), true],
    ['a limit that is still too low', new LimitedPlay({ max_files: 4 }), false],
    ['one of two limits', new LimitedPlay({ no_new_deps: true }, ['max_files', 'no_new_deps']), false],
    ['both limits', new LimitedPlay({}, ['max_files', 'no_new_deps']), true],
    ['one limit, and the other is waived', waived(), true],
    [
      'a limit, but the agent says that it is blocked',
      new LimitedPlay({}, []).violate(['max_files'], 'blocked'),
      false,
    ],
    ['a limit that nothing has reached', new LimitedPlay({}, []), false],
  ])('names the work that it would release: %s', (_, play, isReleased) => {
    expect(play.releases()).toEqual(isReleased ? [play.id] : []);
  });

  it('moves no workflow by itself', () => {
    const play = new LimitedPlay();
    play.releases();
    expect([play.task.flow.runbook, play.task.phase]).toEqual([OLD, 'BLOCKED']);
  });
});

function waived(): LimitedPlay {
  const play = new LimitedPlay({ no_new_deps: true }, []);
  return play.order(say.waive('no_new_deps', play.id)).violate(['max_files']);
}

describe('an operator', () => {
  it('moves a workflow to the rules in force, on record, and the released work goes on', () => {
    const play = new LimitedPlay().order(flow.adopt(NEW)).order(say.moveRules('W-00002'));
    expect(play.answer).toEqual({ moved: [play.id], released: [play.id] });
    expect(play.types().slice(0, 2)).toEqual(['TaskRulesMoved', 'PhaseMoved']);
    expect(play.newest('TaskRulesMoved')).toEqual({ task_id: play.id, runbook: NEW, previous: OLD });
    expect([play.task.flow.runbook, play.task.phase, play.task.nextRole]).toEqual([
      NEW,
      'IMPLEMENTATION',
      'implementer',
    ]);
    expect(play.openDecisions(), 'nothing is left to answer').toEqual([]);
    play.checkReplay();
  });

  it('leaves a task blocked that the rules in force do not release, and changes nothing twice', () => {
    const play = new LimitedPlay({ max_files: 4 }).order(flow.adopt(NEW)).order(say.moveRules('W-00002'));
    expect(play.answer).toEqual({ moved: [play.id], released: [] });
    expect(play.task.phase).toBe('BLOCKED');
    play.order(say.moveRules(play.id));
    expect([play.answer, play.types()]).toEqual([{ moved: [], released: [] }, []]);
  });

  it('moves all of the named workflows or none, and none that is claimed, judged or over', () => {
    const play = new LimitedPlay({}, []).order(flow.adopt(NEW));
    expect(play.refuse(say.moveRules(play.id, 'Z')).code).toBe('no-such-task');
    play.claim('implementer');
    expect(play.refuse(say.moveRules(play.id)).code).toBe('already-claimed');
    const judged = new LimitedPlay({}, []).turn('implementer', { head: HEAD }).order(flow.adopt(NEW));
    expect(judged.refuse(say.moveRules(judged.id)).code).toBe('being-judged');
    const over = new LimitedPlay().order(say.operate('cancel', 'enough', 'W-00002')).order(flow.adopt(NEW));
    expect(over.refuse(say.moveRules(over.id)).code).toBe('cancelled');
  });

  it('finds the way out in the question about the block, with what is waived already', () => {
    const { context, options } = waived().decision();
    expect(context).toContain('Waived for this task: no_new_deps');
    expect(context).toContain('baton task waive W-00002 max_files --reason TEXT');
    expect(options.map(({ label }) => label)).toContain('Retry with the rules in force');
  });

  it('answers it: the work goes on with the rules that are in force then', () => {
    const play = new LimitedPlay();
    const option = play.decision().options.findIndex(({ action }) => action === 'approve') + 1;
    play.order(flow.adopt(NEW)).resolve(option);
    expect([play.task.flow.runbook, play.task.phase]).toEqual([NEW, 'IMPLEMENTATION']);
    const before = new LimitedPlay();
    before.resolve(option);
    expect([before.task.flow.runbook, before.task.phase]).toEqual([OLD, 'IMPLEMENTATION']);
  });
});
