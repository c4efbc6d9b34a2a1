import { describe, expect, it } from 'vitest';
import { findEvidence } from '../../state/packet/evidence.ts';
import { buildPacket } from '../../state/packet/packet.ts';
import * as say from '../../state/say.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../workflow.cases.ts';

const SECOND = '2'.repeat(40);
const FOUND = { ...TO_FIXER, handoffId: 'found' };

describe('the evidence of a checkpoint', () => {
  it('has a failed check only until there is another commit', () => {
    const play = working().turn('implementer', { head: say.SHA }).check('failed');
    expect(titles(play)).toContainEqual(expect.stringContaining('Check unit failed'));
    play.resolve(1).turn('fixer', { head: SECOND });
    expect(play.check().task.phase).toBe('READY_FOR_REVIEW');
    expect(titles(play)).not.toContainEqual(expect.stringContaining('Check unit failed'));
  });

  it('keeps a failed check if only a review followed', () => {
    const play = working().turn('implementer', { head: say.SHA }).check().resolve(1);
    play.turn('reviewer').resolve(1).turn('validator').merge('failed');
    expect(titles(play)).toContainEqual(expect.stringContaining('Merge: failed'));
  });

  it('has the newest findings until the change is approved', () => {
    const play = working().turn('implementer', { head: say.SHA }).check().resolve(1).turn('reviewer', FOUND);
    expect(titles(play)).toContain('From reviewer-agent to fixer-agent');
    play.resolve(1).turn('fixer', { head: SECOND }).check();
    expect(titles(play)).toContain('From reviewer-agent to fixer-agent');
    play.resolve(1).turn('reviewer');
    expect(play.task.phase).toBe('READY_FOR_MERGE');
    expect(titles(play)).not.toContain('From reviewer-agent to fixer-agent');
  });

  it('has the notes of people, but no answers without a note', () => {
    const play = new WorkflowPlay({}, 'supervised').resolve(1).turn('issue-manager');
    expect(titles(play)).toEqual([]);
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 1, message: 'Go on' } });
    play.turn('prep', { handoffId: 'prepared' });
    expect(titles(play)).toEqual(['From prep-agent to implementer-agent', 'Decision: Accept the issue (approve)']);
    const people = buildPacket(play.state, play.task).sections.find(({ name }) => name === 'people')?.items ?? [];
    // The title contains the answer. The unchanged phase is not repeated as text.
    expect(people.map(({ text }) => text)).toEqual(['Go on', '']);
  });

  it('names the person who sent work back as the author of the finding', () => {
    const play = working().turn('implementer', { head: say.SHA }).check();
    const { id, options } = play.decision();
    const option = options.findIndex(({ action }) => action === 'send_back') + 1;
    play.order({ kind: 'resolve-decision', command: { id, option, message: 'Seconds, too' } });
    const [finding] = buildPacket(play.state, play.task).sections.find(({ name }) => name === 'finding')?.items ?? [];
    expect(finding).toMatchObject({ author: 'operator:ann', title: 'From operator to fixer-agent' });
    expect(finding?.text).toContain('Seconds, too');
  });
});

/** A running workflow in semi mode. */
function working(): WorkflowPlay {
  return new WorkflowPlay({}, 'semi').turn('issue-manager').turn('prep').resolve(1);
}

function titles(play: WorkflowPlay): string[] {
  return (findEvidence(play.state, play.decision(), play.id)?.items ?? []).map(({ title }) => title);
}
