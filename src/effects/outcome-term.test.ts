import { expect, it } from 'vitest';
import { outcomeTerm } from './outcome-term.ts';

it("records the outcome of an effect in the host's current term", () => {
  expect(outcomeTerm(3, { isCaretaker: true, term: 3 }, { aborted: false })).toBe(3);
  expect(outcomeTerm(3, { isCaretaker: true, term: 4 }, { aborted: false })).toBe(4);
});

it("records it in the effect's own term if the host is not the caretaker, or another one was; it is then refused", () => {
  expect(outcomeTerm(3, { isCaretaker: false, term: 4 }, { aborted: false })).toBe(3);
  expect(outcomeTerm(3, { isCaretaker: true, term: 5 }, { aborted: true })).toBe(3);
});
