import { expect, it } from 'vitest';
import { daemonEnvironment } from './start-daemon.ts';

it('a daemon inherits no variables of an agent, a command or a git process', () => {
  const marks = { BATON_AGENT_ID: 'a', BATON_COMMAND_ID: 'c', BATON_TOKEN: 't', BATON_SESSION: 's', BATON_URL: 'u' };
  expect(daemonEnvironment({ ...marks, GIT_DIR: '.git', PATH: '/bin', BATON_TICK_MS: '50' })).toEqual({
    PATH: '/bin',
    BATON_TICK_MS: '50',
  });
});
