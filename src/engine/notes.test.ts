import { describe, expect, it } from 'vitest';
import { buildPacket } from '../state/packet/packet.ts';
import { renderPacket } from '../state/packet/render-packet.ts';
import * as runs from '../state/runs/say.cases.ts';
import { create, note, operate, update, worker, claim, emptyTask } from '../state/say.cases.ts';
import { Play } from './play.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const MERGED = 'f'.repeat(40);
const NOTE = 'Use the parser that we have';
const PLACE = { path: 'src/a "b".ts', line: 12, head: 'abc123' };
const WORDS = `On "src/a \\"b\\".ts", line 12 at commit abc123:\n${NOTE}`;

const packetOf = ({ state }: Play, id = 'A'): string =>
  renderPacket(buildPacket(state, state.tasks.get(id) ?? emptyTask), { tokens: 1_000_000 }).text;

/** A worker's agent, or pipeline with an agent, on task A. */
function working(plan: Parameters<typeof runs.configure>[0][number]['plan']): Play {
  const play = new Play().order(create()).say(runs.configure([{ name: 'w', concurrency: 1, plan }]));
  return play.say(runs.started(play.agent().id));
}

const AGENT = { kind: 'agent', agent: runs.agentPlan() } as const;
const PIPELINE = runs.pipelinePlan([runs.agentStep('code')]);

describe('a note of a person', () => {
  it.each([
    ['an agent', AGENT],
    ['a pipeline', PIPELINE],
  ])('reaches the agent that works on the task at once: %s', (_, plan) => {
    const play = working(plan).order(note(NOTE, PLACE));
    expect(play.types()).toEqual(['NoteAdded', 'MessageRequested']);
    expect(play.answer).toEqual({ agentId: play.agent().id });
    expect(play.the('MessageRequested')).toMatchObject({
      agent_id: play.agent().id,
      text: `A note from operator:ann. ${WORDS}`,
    });
    // The note appears once: the message is not a second statement.
    expect(packetOf(play).split(NOTE)).toHaveLength(2);
    play.checkReplay();
  });

  it('is read by the next session if no session works on the task', () => {
    const play = new Play().order(create()).order(note(NOTE, PLACE));
    expect(play.types()).toEqual(['NoteAdded']);
    expect(play.answer).toEqual({ agentId: null });
    expect(packetOf(play)).toContain(`operator:ann: Note\n\n\`\`\`text\n${WORDS}\n`);
  });

  it.each([
    ['held at a checkpoint', () => new WorkflowPlay({}, 'supervised')],
    ['between two roles', () => new WorkflowPlay().turn('issue-manager')],
    ['merged, and not closed yet', () => new WorkflowPlay().toMerge().turn('validator').merge('merged', MERGED)],
  ])('is read by the next session of a workflow: %s', (_, begin) => {
    const play = begin();
    play.order(note(NOTE, { task_id: play.id }));
    expect(packetOf(play, play.id)).toContain(NOTE);
  });

  it('is read by the next session if the task is blocked or claimed manually', () => {
    const blocked = new Play()
      .order(create())
      .order(update('blocked', { notes: 'no key' }))
      .order(note(NOTE));
    const byHand = new Play().order(create()).say(claim(), worker).order(note(NOTE));
    for (const play of [blocked, byHand]) {
      expect(play.types()).toEqual(['NoteAdded']);
      expect(packetOf(play)).toContain(NOTE);
    }
  });

  it('is part of the answer while the agent waits for a person', () => {
    const play = working(AGENT);
    const { id } = play.agent();
    play.say(runs.report({ kind: 'stop' }, id), runs.supervisor(id));
    expect(play.refuse(note(NOTE))).toMatchObject({
      code: 'agent-parked',
      hint: expect.stringContaining(`baton decision resolve ${play.decision().id} N -m`),
    });
  });

  it('is refused if no session would ever read it', () => {
    const play = new Play();
    expect(play.refuse(note(NOTE)).code).toBe('no-such-task');
    play.order(create());
    expect(play.refuse(note(' \n')).code).toBe('empty-message');
    play.order(operate('waive'));
    expect(play.refuse(note(NOTE)).code).toBe('completed');
    play.order(create('B')).order(operate('cancel', 'not wanted', 'B'));
    expect(play.refuse(note(NOTE, { task_id: 'B' })).code).toBe('cancelled');
  });
});
