import { describe, expect, it } from 'vitest';
import { dropTerminalVariables, pickTerminalVariables } from './child.ts';

const ENV = {
  HOME: '/home/ada',
  PATH: '/bin',
  TERM: 'xterm',
  TERM_PROGRAM: 'tmux',
  LC_ALL: 'C',
  CI: 'true',
  CITY: 'x',
  NONE: undefined,
};

describe('terminal variables of an environment', () => {
  it('describe the terminal, its user and whether there is one', () => {
    expect(pickTerminalVariables(ENV)).toEqual({ TERM: 'xterm', TERM_PROGRAM: 'tmux', LC_ALL: 'C', CI: 'true' });
  });

  it('are separate from all others', () => {
    expect(dropTerminalVariables(ENV)).toEqual({ HOME: '/home/ada', PATH: '/bin', CITY: 'x' });
  });
});
