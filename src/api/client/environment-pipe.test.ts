import { expect, it } from 'vitest';
import { splitEnvironment } from './start-daemon.ts';

it('starts the daemon with the variables that agents may have, and pipes the rest', () => {
  const env = { PATH: '/bin', NODE_OPTIONS: '--x', BATON_GITHUB_WEBHOOK_SECRET: 's', AWS_KEY: 'k', NONE: undefined };
  const { shown, piped } = splitEnvironment(env);
  expect(shown).toEqual({ PATH: '/bin', NODE_OPTIONS: '--x' });
  expect(JSON.parse(piped)).toEqual({ BATON_GITHUB_WEBHOOK_SECRET: 's', AWS_KEY: 'k' });
});
