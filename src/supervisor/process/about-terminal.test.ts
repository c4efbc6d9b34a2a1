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

describe('what the environment says about a terminal', () => {
  it('is what it is and can do, who sits there, and whether anybody does', () => {
    expect(pickTerminalVariables(ENV)).toEqual({ TERM: 'xterm', TERM_PROGRAM: 'tmux', LC_ALL: 'C', CI: 'true' });
  });

  it('is apart from everything else', () => {
    expect(dropTerminalVariables(ENV)).toEqual({ HOME: '/home/ada', PATH: '/bin', CITY: 'x' });
  });
});
