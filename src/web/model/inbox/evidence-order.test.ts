import { expect, it } from 'vitest';
import { DECISION_SOURCES } from '../../../state/runs/decision.ts';
import { EVIDENCE_PARTS, orderEvidence } from './evidence-order.ts';

it.each([...DECISION_SOURCES, 'a source of a newer daemon'])('shows every part once for %s', (source) => {
  expect(orderEvidence(source).toSorted()).toEqual([...EVIDENCE_PARTS].toSorted());
});

it.each([
  ['budget', 'budget'],
  ['gate', 'checks'],
  ['dead', 'output'],
])('shows for %s first: %s', (source, part) => {
  expect(orderEvidence(source)[0]).toBe(part);
});
