import { expect, it } from 'vitest';
import { openDecision } from '../view/view.cases.ts';
import { describeSettled, findMissing, permissionOptions } from './permission.ts';

const options = [
  { n: 1, label: 'Start the review', action: 'approve', recommended: true },
  { n: 2, label: 'Block the task', action: 'deny', recommended: false },
  { n: 3, label: 'Send back with a note', action: 'send_back', recommended: false },
  { n: 4, label: 'Hand to another agent', action: 'hand_over', recommended: false },
  { n: 5, label: 'Take over yourself', action: 'take_over', recommended: false },
  { n: 6, label: 'Cancel the task', action: 'cancel', recommended: false },
];
const decision = openDecision({ options });

it('offers the options of the decision, with its own texts', () => {
  expect(permissionOptions(decision)).toEqual([
    { optionId: '1', name: '1. Start the review (recommended)', kind: 'allow_once' },
    { optionId: '2', name: '2. Block the task', kind: 'reject_once' },
    { optionId: '3', name: '3. Send back with a note (needs a note)', kind: 'reject_once' },
    { optionId: '4', name: '4. Hand to another agent (needs the name of an agent)', kind: 'allow_once' },
    { optionId: '5', name: '5. Take over yourself', kind: 'allow_once' },
    { optionId: '6', name: '6. Cancel the task', kind: 'reject_once' },
  ]);
});

it('lists what an answer needs besides its number', () => {
  expect(findMissing('review', { action: 'send_back' })).toBe('note');
  // A merge that is sent back gets a finding from Baton, so it needs no note.
  expect(findMissing('merge', { action: 'send_back' })).toBeUndefined();
  expect(findMissing('review', { action: 'hand_over' })).toBe('agent');
});

it('names who answered first', () => {
  const answered = { ...decision, result: { kind: 'resolved', at: '', option: 2, by: 'operator:bob' } } as const;
  expect(describeSettled(answered)).toBe(`${decision.title}: Block the task (operator:bob)`);
  const withdrawn = { ...decision, result: { kind: 'withdrawn', at: '', reason: 'it has signalled' } } as const;
  expect(describeSettled(withdrawn)).toBe(`${decision.title}: withdrawn`);
});
