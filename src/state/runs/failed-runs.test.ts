import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import * as runs from './say.cases.ts';
import { listFailedRuns } from './find-run.ts';

const failed = (play: Play): readonly string[] => listFailedRuns(play.state).map(({ kind, id }) => `${kind} ${id}`);

/** A pipeline whose only step is a shell command, which ends with this code. */
function pipeline(play: Play, id: string, exitCode: number | null): Play {
  const plan = runs.pipelinePlan([{ name: 'run', run: { kind: 'shell', command: 'x' } }]);
  play.order(runs.startPipeline(plan, {}, id));
  return exitCode === null ? play : play.say(runs.finish(play.the('CommandRequested').command_id, exitCode));
}

describe('a failed run', () => {
  it('needs a person until it is acknowledged, once', () => {
    const play = pipeline(new Play(), 'p1', 1);
    expect(failed(play)).toEqual(['pipeline p1']);
    play.order(runs.acknowledge('p1'));
    expect(play.types()).toEqual(['RunAcknowledged']);
    expect(failed(play)).toEqual([]);
    expect(play.order(runs.acknowledge('p1')).types()).toEqual([]);
    play.checkReplay();
  });

  it('needs nobody any more when it is run again, and again if that fails too', () => {
    const play = pipeline(new Play(), 'p1', 1);
    pipeline(play.wait(1000), 'p2', null);
    expect(failed(play)).toEqual([]);
    play.say(runs.finish(play.the('CommandRequested').command_id, 1));
    expect(failed(play)).toEqual(['pipeline p2']);
    pipeline(play.wait(1000), 'p3', 0);
    expect(failed(play)).toEqual([]);
  });

  it('is no run that is done, runs, or is unknown: those cannot be acknowledged', () => {
    const play = pipeline(new Play(), 'p1', 0);
    pipeline(play, 'p2', null);
    expect(failed(play)).toEqual([]);
    expect(play.refuse(runs.acknowledge('p1')).code).toBe('run-not-failed');
    expect(play.refuse(runs.acknowledge('p2')).code).toBe('run-not-failed');
    expect(play.refuse(runs.acknowledge('p9')).code).toBe('no-such-run');
  });
});
