import type { Problem } from '../shape/problem.ts';

/** Thrown where somebody renders what would be refused on arrival: a mistake in the program, not in a message. */
export class InvalidHandoff extends Error {
  override readonly name = 'InvalidHandoff';
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    super(`handoff cannot be rendered: ${problems.map(({ message }) => message).join('; ')}`);
    this.problems = problems;
  }
}
