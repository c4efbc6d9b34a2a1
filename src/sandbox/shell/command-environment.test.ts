import { expect, it } from 'vitest';
import { commandEnvironment } from './command-environment.ts';

it('withholds the variables of the client, and its tokens under any name', () => {
  const passed = {
    PATH: '/bin',
    BATON_TOKEN: 't0ken',
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_X: '1',
    MY_HEADER: 'Bearer t0ken',
    TMPDIR: '/run/user/1',
    'BASH_FUNC_x%%': '() { :; }',
    '=': 'a name that no variable has',
  };
  const spec = { withheld: ['BATON_TOKEN', 'ANTHROPIC_*'], env: { TMPDIR: '/tmp' } };
  expect(commandEnvironment(passed, spec, ['t0ken'])).toEqual({
    PATH: '/bin',
    TMPDIR: '/tmp',
    'BASH_FUNC_x%%': '() { :; }',
  });
});
