import { describe, expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../../../engine/workflow.cases.ts';
import * as runs from '../../../state/runs/say.cases.ts';
import { operate, SHA } from '../../../state/say.cases.ts';
import { changesRequested } from '../../../state/workflow/say.cases.ts';
import { listMessages, readableXml } from './messages.ts';

describe('the messages of a run', () => {
  it('are handoffs, records, questions and answers, in order of time', () => {
    const play = new WorkflowPlay({}, 'supervised');
    const { id, options } = play.decision();
    play.order(runs.resolve(id, 1, 'go on')).turn('issue-manager');
    const listed = listMessages(play.entries);
    expect(listed.map(({ kind }) => kind).slice(0, 3)).toEqual(['question', 'answer', 'handoff']);
    expect(listed[1]).toMatchObject({
      title: `Answer: ${options[0]?.label ?? ''}`,
      text: 'go on',
      decisionId: id,
    });
    expect(listed.filter(({ kind }) => kind === 'handoff')).toHaveLength(1);
  });

  it('quote findings and records with their author', () => {
    const play = new WorkflowPlay().toReview(SHA);
    play.turn('reviewer', { ...TO_FIXER, xml: changesRequested('a hole', 'src/a.ts:3') });
    const listed = listMessages(play.entries);
    expect(listed.find(({ kind }) => kind === 'record')).toMatchObject({
      title: `Thought record at ${SHA.slice(0, 12)}`,
    });
    expect(listed.at(-1)).toMatchObject({ kind: 'handoff', title: 'Handoff reviewer-agent → fixer-agent' });
    expect(listed.at(-1)?.text).toContain('a hole');
  });

  it("include what people did, with their reasons, but not the engine's actions", () => {
    const play = new WorkflowPlay().order(operate('cancel', 'not now', 'W-00001'));
    expect(listMessages(play.entries)).toMatchObject([
      { kind: 'intervention', title: 'The task was cancelled', text: 'cancelled: not now' },
    ]);
    const noted = new WorkflowPlay().order({
      kind: 'note-task',
      command: { task_id: 'W-00001', text: 'too long', path: 'src/a.ts', line: 3 },
    });
    expect(listMessages(noted.entries)).toMatchObject([{ title: 'Note on src/a.ts:3', text: 'too long' }]);
    const agent = new Play().order(runs.startAgent()).say(runs.started('a1'));
    agent.order({ kind: 'send-message', command: { agentId: 'a1', messageId: 'm1', text: 'use port 3000' } });
    expect(listMessages(agent.entries)).toMatchObject([{ kind: 'message', text: 'use port 3000' }]);
  });
});

it.each([
  ['<handoff from="a"><summary>All &amp; done</summary></handoff>', 'from="a"\nsummary: All & done'],
  ['<h><list><item id="1">x</item><item>y</item></list></h>', 'list:\n  item (id="1"): x\n  item: y'],
  ['<h><empty/><b>c</b></h>', 'empty:\nb: c'],
  ['<h><b>c</b></h>', 'b: c'],
  ['no xml at all', 'no xml at all'],
])('shows %s as lines', (xml, lines) => {
  expect(readableXml(xml)).toBe(lines);
});
