import { expect, it } from 'vitest';
import { addToDraft, draftOf, setDraft } from './draft-notes.ts';

it('adds comments below what was written', () => {
  addToDraft('d1', 'one');
  addToDraft('d1', 'two');
  expect(draftOf('d1')).toBe('one\n\ntwo');
  expect(draftOf('d2')).toBe('');
});

it('forgets a draft that is emptied', () => {
  setDraft('d3', 'x');
  setDraft('d3', '');
  expect(draftOf('d3')).toBe('');
});
