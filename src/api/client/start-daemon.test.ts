import { expect, it } from 'vitest';
import { daemonEnvironment } from './start-daemon.ts';

it('a daemon has nothing of whoever started it: what carries the mark of an agent or a command ends with that', () => {
  const marks = { BATON_AGENT_ID: 'a', BATON_COMMAND_ID: 'c', BATON_TOKEN: 't', BATON_SESSION: 's', BATON_URL: 'u' };
  expect(daemonEnvironment({ ...marks, GIT_DIR: '.git', PATH: '/bin', BATON_TICK_MS: '50' })).toEqual({
    PATH: '/bin',
    BATON_TICK_MS: '50',
  });
});
