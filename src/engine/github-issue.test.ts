import { describe, expect, it } from 'vitest';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const MERGED = 'd'.repeat(40);
const ISSUE = { repository: 'owner/name', number: 12 };

/** A workflow whose task was imported from a GitHub issue. */
class IssuePlay extends WorkflowPlay {
  override get id(): string {
    return '12';
  }

  constructor() {
    super();
    const tasks = [{ id: '12', title: 'Read durations back', githubIssue: ISSUE }];
    this.order({
      kind: 'start-workflow',
      command: { tasks: ['12'], mode: 'autonomous', imports: { source: 'x', tasks } },
    });
  }

  toClosed(): this {
    this.toMerge().turn('validator').merge('merged', MERGED);
    return this.close();
  }

  close(): this {
    const closer = this.claim('closer');
    const end = { from: 'closer-agent', senderRole: 'closer', to: null, phase: 'COMPLETED', nextRole: null } as const;
    this.say(say.handoff({ taskId: this.id, ...end }), closer);
    return this.say(this.exit(), closer);
  }
}

describe('a workflow of an issue at GitHub', () => {
  it('requests a comment and the closing of the issue when it is closed, once', () => {
    const play = new IssuePlay().toMerge().turn('validator').merge('merged', MERGED);
    expect(play.owed('GithubIssueCloseRequested')).toEqual([]);
    play.close();
    expect(play.stands()).toEqual(['COMPLETED', null]);
    const asked = play.the('GithubIssueCloseRequested');
    expect(asked).toMatchObject({ task_id: '12', ...ISSUE, mark: `<!-- baton: 12 closed ${MERGED.slice(0, 12)} -->` });
    expect(asked.comment.split('\n')).toEqual([
      `\`12\` is done, merged as ${MERGED}.`,
      '',
      '- Cycle time: 0s',
      '- Review rounds: 1',
      '- Commits: 1',
    ]);
    play.say(flow.closeIssue(asked.close_id));
    expect([play.owed('GithubIssueCloseRequested'), play.openDecisions()]).toEqual([[], []]);
    expect(play.newest('GithubIssueClosed')).toMatchObject({ task_id: '12', number: 12, outcome: 'closed' });
    play.say(flow.closeIssue(asked.close_id));
    expect(play.types(), 'a second report changes nothing').toEqual([]);
    play.checkReplay();
  });

  it('stays done if the issue cannot be closed: a person is asked, and a retry requests the same comment', () => {
    const play = new IssuePlay().toClosed();
    const { comment, mark, close_id } = play.the('GithubIssueCloseRequested');
    play.say(flow.closeIssue(close_id, 'failed', 'gh is not logged in'));
    expect(play.stands()).toEqual(['COMPLETED', null]);
    expect(play.decision()).toMatchObject({ source: 'error', taskId: '12' });
    expect(play.decision().context).toContain('https://github.com/owner/name/issues/12\ngh is not logged in');
    play.resolve(1);
    expect(play.the('GithubIssueCloseRequested')).toMatchObject({ comment, mark });
    expect(play.the('GithubIssueCloseRequested').close_id).not.toBe(close_id);
    play.say(flow.closeIssue(play.the('GithubIssueCloseRequested').close_id, 'was-closed'));
    expect(play.openDecisions()).toEqual([]);
    play.checkReplay();
  });

  it('leaves the issue unchanged if a person chooses that', () => {
    const play = new IssuePlay().toClosed();
    play.say(flow.closeIssue(play.the('GithubIssueCloseRequested').close_id, 'failed')).resolve(2);
    expect([play.owed('GithubIssueCloseRequested'), play.openDecisions()]).toEqual([[], []]);
  });

  it('does not close the issue of a task that is reinstated before', () => {
    const play = new IssuePlay().toClosed();
    const { close_id } = play.the('GithubIssueCloseRequested');
    play.order(say.operate('reinstate', 'it is wrong', '12'));
    expect(play.owed('GithubIssueCloseRequested')).toEqual([]);
    expect(play.say(flow.closeIssue(close_id, 'failed')).types()).toEqual([]);
  });

  it('does not close the issue if a person leaves the task unclosed, or cancels it', () => {
    const play = new IssuePlay().toMerge().turn('validator').merge('merged', MERGED);
    const closer = play.claim('closer');
    play.say(say.exit('COMPLETED', 'error', { notes: 'no disk' }), closer);
    play.order(runs.resolve(play.decision().id, 2));
    expect(play.stands()).toEqual(['COMPLETED', null]);
    const cancelled = new IssuePlay().order(say.operate('cancel', 'not now', '12'));
    for (const each of [play, cancelled]) expect(each.owed('GithubIssueCloseRequested')).toEqual([]);
  });
});

describe('no issue is closed', () => {
  it('for a workflow that was imported from none', () => {
    class Plain extends IssuePlay {
      override get id(): string {
        return 'W-00001';
      }
    }
    expect(new Plain().toClosed().owed('GithubIssueCloseRequested')).toEqual([]);
  });

  it('for a task that is completed without a workflow', () => {
    const play = new WorkflowPlay();
    const tasks = [{ id: '12', title: 'By hand', githubIssue: ISSUE }];
    play.order({ kind: 'import-tasks', command: { source: 'x', tasks } });
    play.order(say.operate('waive', 'done by hand', '12'));
    expect(play.owed('GithubIssueCloseRequested')).toEqual([]);
  });
});
