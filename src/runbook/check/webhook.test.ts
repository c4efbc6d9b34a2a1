import { expect, it } from 'vitest';
import { checkRunbook } from './check-runbook.ts';

const check = (webhook: string) => checkRunbook([{ path: 'baton.toml', text: `[notify]\nwebhook = '${webhook}'\n` }]);

it.each([
  'https://hooks.example.com/x',
  '${env.SLACK_WEBHOOK}',
  '${env.DISCORD_WEBHOOK}/slack',
  '${env.HOOK:-https://hooks.example.com/x}',
  'https://hooks.example.com/$${env.KEY}',
])('a webhook may be %s', (webhook) => {
  const checked = check(webhook);
  expect(checked.ok && checked.value.notify.webhook).toBe(webhook);
});

it.each([
  [
    'hooks.example.com',
    'Invalid notify.webhook: hooks.example.com (expected a URL, or a template such as ${env.SLACK_WEBHOOK})',
  ],
  ['https://example.com/${var.key}', '${var.key}'],
  ['${env.}', '${env.}'],
  // Each would send a variable of the daemon to a host that an agent chooses.
  ['http://127.0.0.1:9/${env.ANTHROPIC_API_KEY}', 'a webhook must not send a variable to another host'],
  ['https://hooks.example.com/${env.KEY:-none}', 'a webhook must not send a variable to another host'],
  ['https://${env.KEY}@evil.example/', 'a webhook must not send a variable to another host'],
  ['${env.UNSET:-http://evil.example/}${env.KEY}', 'a webhook must not send a variable to another host: ${env.KEY}'],
  ['${env.UNSET:-http://evil.example/?}/${env.KEY}', 'a webhook must not send a variable to another host: ${env.KEY}'],
  ['${env.REGISTRY}.evil.example/', 'text after a variable changes the host'],
  ['${env.REGISTRY}@evil.example/', 'text after a variable changes the host'],
])('a webhook may not be %s', (webhook, message) => {
  const checked = check(webhook);
  expect(checked.ok ? '' : checked.problems[0].message).toContain(message);
});
