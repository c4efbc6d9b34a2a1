import { expect, it } from 'vitest';
import type { Client } from '../../api/client/client.ts';
import { findSuggestion, suggestId } from './suggest-id.ts';

const known = [
  { kind: 'task', ids: ['P0.1.1', 'W-00012'] },
  { kind: 'agent', ids: ['5d0e7b41'] },
  { kind: 'pipeline', ids: ['9b2d4c10'] },
  { kind: 'decision', ids: [] },
] as const;

it.each([
  [{ kind: 'task', id: 'W-0012' }, 'Did you mean W-00012?'],
  [{ kind: 'task', id: 'p0.1.1' }, 'Did you mean P0.1.1?'],
  [{ kind: 'task', id: 'nonsense' }, undefined],
  [{ kind: 'agent', id: '5d0e7b14' }, 'Did you mean 5d0e7b41?'],
  [{ kind: 'agent', id: '9b2d' }, 'It is a pipeline: baton pipeline show 9b2d.'],
  [{ kind: 'pipeline', id: '5d0e7b41-aaaa' }, 'It is an agent: baton agent show 5d0e7b41-aaaa.'],
  [{ kind: 'decision', id: 'W-00012' }, 'It is a task: baton task show W-00012.'],
  [{ kind: 'decision', id: '9b' }, undefined],
  [{ kind: 'run', id: 'W-0012' }, 'Did you mean W-00012?'],
  [{ kind: 'run', id: '9b2d4c01' }, 'Did you mean 9b2d4c10?'],
  [{ kind: 'run', id: 'nonsense' }, undefined],
] as const)('%j is answered with %s', (missing, suggestion) => {
  expect(findSuggestion(missing, known)).toBe(suggestion);
});

it('sends no request after any other error', async () => {
  const call: Client['call'] = async () => expect.unreachable('no list is needed');
  const answer = {
    ok: false,
    error: { code: 'already-claimed', message: 'task T1 is claimed by ada', hint: '' },
  } as const;
  expect(await suggestId(answer, call)).toBe(answer);
});
