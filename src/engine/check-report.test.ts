import { describe, expect, it } from 'vitest';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const OWN = { repository: 'owner/name', app: 'github-actions' };

/** A workflow whose check `build` another system reports. */
function waiting(rules: Partial<Rules> = {}): WorkflowPlay {
  const play = new WorkflowPlay({ checks: [{ name: 'build' }], repository: 'owner/name', ...rules });
  return play.turn('issue-manager').turn('prep').turn('implementer', { head: say.SHA });
}

function report(play: WorkflowPlay, reporter = OWN, conclusion = 'success', outcome: 'passed' | 'failed' = 'passed') {
  const about = { exit_code: null, log: null, output: 'GitHub: it', handoffId: `h${play.serial}` };
  const { checks_id } = play.newest('ChecksRequested');
  const command = { checks_id, name: 'build', outcome, ...about, report: { reporter, conclusion } };
  return play.say({ kind: 'finish-check', command });
}

describe('a report of a check by another system', () => {
  it('passes the gate, and its app is remembered', () => {
    const play = report(waiting());
    expect([play.task.phase, play.newest('CheckFinished').reporter]).toEqual(['READY_FOR_REVIEW', OWN]);
    expect([...play.state.reporters.values()]).toEqual(['github-actions']);
    play.checkReplay();
  });

  it.each([
    ['another repository', { ...OWN, repository: 'evil/name' }],
    ['another host', { ...OWN, repository: 'evil.example/owner/name' }],
  ])('changes nothing if it is of %s', (_, reporter) => {
    const play = report(waiting(), reporter, 'success');
    expect([play.task.phase, play.count('CheckFinished'), play.count('DecisionOpened')]).toEqual(['CI_PENDING', 0, 0]);
  });

  it('changes nothing about a check that Baton runs', () => {
    const play = report(waiting({ checks: [{ name: 'build', run: 'make' }] }));
    expect([play.task.phase, play.count('CheckFinished')]).toEqual(['CI_PENDING', 0]);
  });

  it.each(['skipped', 'neutral'])('asks once if it is %s, and counts when a person accepts it', (conclusion) => {
    const play = report(report(waiting(), OWN, conclusion), OWN, conclusion);
    expect([play.task.phase, play.count('DecisionOpened')]).toEqual(['CI_PENDING', 1]);
    expect(play.decision()).toMatchObject({ source: 'gate', taskId: play.id });
    expect(play.decision().context).toContain(`reports "${conclusion}" for the check "build"`);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.task.phase).toBe('READY_FOR_REVIEW');
    play.checkReplay();
  });

  it('waits for another one if the person ignores it, and a success withdraws the question', () => {
    const ignored = report(waiting(), OWN, 'skipped');
    ignored.order(runs.resolve(ignored.decision().id, 2));
    report(ignored, OWN, 'skipped');
    expect([ignored.task.phase, ignored.count('DecisionOpened')]).toEqual(['CI_PENDING', 1]);
    expect(report(ignored).task.phase).toBe('READY_FOR_REVIEW');

    const open = report(report(waiting(), OWN, 'neutral'));
    expect([open.task.phase, open.count('DecisionWithdrawn')]).toEqual(['READY_FOR_REVIEW', 1]);
  });

  it('asks if another app reports than before, also a failure', () => {
    const play = report(waiting(), OWN, 'failure', 'failed');
    play.turn('fixer', { head: 'b'.repeat(40) });
    report(play, { ...OWN, app: 'evil' });
    expect([play.task.phase, play.decision().context]).toEqual([
      'CI_PENDING',
      expect.stringContaining('Another app reported this check before.'),
    ]);
    report(play, { ...OWN, app: 'other-evil' }, 'failure', 'failed');
    expect([play.count('DecisionOpened'), play.count('DecisionWithdrawn')]).toEqual([2, 1]);
    play.order(runs.resolve(play.decision().id, 1));
    expect([play.task.phase, [...play.state.reporters.values()]]).toEqual(['IMPLEMENTATION', ['other-evil']]);
  });

  it('asks if the project has no repository', () => {
    const play = report(waiting({ repository: '' }));
    expect(play.decision().context).toContain('The project has no remote at GitHub');
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.task.phase).toBe('READY_FOR_REVIEW');
  });
});
