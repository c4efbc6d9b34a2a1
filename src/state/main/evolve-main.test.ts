import { expect, it } from 'vitest';
import { event, type RecordedEvent } from '../event.ts';
import { evolveMain, findMain, type MainBranches, type MainBranchState } from './main-branch.ts';

const SESSION = { id: 'a1', name: 'coder', task_id: null };

/** The main branch after moves. Each move has the observed upstream, and whether a session was alive. */
function after(...entries: readonly unknown[]): MainBranchState | undefined {
  const state = { main: new Map() as MainBranches };
  for (const entry of entries)
    evolveMain(state, { at: '2026-01-01T00:00:00.000Z', ...(entry as object) } as RecordedEvent); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return findMain(state);
}

function moved(old: string | null, now: string, upstream: string | null, isSuspect = false) {
  const sessions = isSuspect ? [SESSION] : [];
  const rest = { fast_forward: true, commits: 1, on_upstream: null, authors: [], stat: null, sessions };
  return event('MainMoved', { branch: 'main', old, new: now, upstream, ...rest });
}

const asked = { type: 'DecisionOpened', data: { decision_id: 'd1', branch: 'main' } };
const answered = (action: string) => ({ type: 'DecisionResolved', data: { decision_id: 'd1', action } });

it('keeps the upstream of the first observation, whatever later moves name', () => {
  expect(after(moved(null, '1', 'ours'))?.upstream).toBe('ours');
  expect(after(moved(null, '1', 'ours'), moved('1', '2', 'theirs'))?.upstream).toBe('ours');
  expect(after(moved(null, '1', null), moved('1', '2', 'theirs'))?.upstream).toBe(null);
  expect(after(moved(null, '1', 'ours'), moved('1', '2', 'theirs', true), asked)?.upstream).toBe('ours');
});

it('takes another upstream only if a person approves the move that named it', () => {
  const held = [moved(null, '1', 'ours'), moved('1', '2', 'theirs', true), asked];
  expect(after(...held, answered('approve'))).toMatchObject({ upstream: 'theirs', trusted: null });
  expect(after(...held, answered('deny'))).toMatchObject({ upstream: 'ours', trusted: { sha: '1' } });
  // The upstream was replaced after the question was asked, so the person has not seen it.
  expect(after(...held, moved('2', '3', 'third', true), answered('approve'))?.upstream).toBe('theirs');
  // The branch returned by itself, so nothing was approved.
  expect(after(...held, moved('2', '1', 'theirs', true))).toMatchObject({ upstream: 'ours', trusted: null });
});
