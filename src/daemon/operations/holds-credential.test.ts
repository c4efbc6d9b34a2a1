import { expect, it } from 'vitest';
import { holdsCredential } from './start-run.ts';

it('distinguishes a plan that the ledger would change from one that it keeps', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  expect(holdsCredential({ run: `curl -H "Authorization: Bearer ${token}"` }, [])).toBe(true);
  expect(holdsCredential([{ run: 'deploy --key zebra41quartz' }], ['zebra41quartz'])).toBe(true);
  // The text names the source of the secret but holds none.
  expect(holdsCredential({ run: 'deploy --token=${env.DEPLOY_TOKEN}' }, ['zebra41quartz'])).toBe(false);
});
