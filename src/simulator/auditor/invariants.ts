/** Every invariant, with what it says. Each can be switched off, to see what the others find. */
export const INVARIANTS = {
  claim: 'a task has at most one live claim, and its epoch grows',
  message: 'each acknowledged or kept message is folded once',
  done: 'a task is done only with a record, checks on what was merged, an approval by another principal, and the merge',
  base: 'a session begins at the recorded head',
  budget: 'a budget is exceeded by at most one request',
  family: 'sessions make no more, no deeper and no more urgent tasks than they may',
  effect: 'each effect has one outcome',
  decision: 'a decision is answered once, by a person, and hides no other',
  fold: 'entries and snapshots fold to the same state',
  hosts: 'two hosts with the same entries have the same state',
  mover: 'every open task has somebody who moves it next',
  'all-clear': 'when all is well, a command is accepted',
  packet: 'the context packet contains what was written',
  cause: 'nothing happens without a cause',
  numbers: 'each entry about a task has the next number within it',
  liveness: 'after healing, all work ends or asks',
  crash: 'the kernel does not throw',
} as const;
export type Invariant = keyof typeof INVARIANTS;
