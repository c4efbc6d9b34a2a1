import { expect, it } from 'vitest';
import { checkRunbook } from './check-runbook.ts';

const check = (webhook: string) => checkRunbook([{ path: 'baton.toml', text: `[notify]\nwebhook = '${webhook}'\n` }]);

it.each(['https://hooks.example.com/x', '${env.SLACK_WEBHOOK}', 'https://hooks.example.com/${env.KEY:-none}'])(
  'a webhook may be %s',
  (webhook) => {
    const checked = check(webhook);
    expect(checked.ok && checked.value.notify.webhook).toBe(webhook);
  },
);

it.each([
  [
    'hooks.example.com',
    'Invalid notify.webhook: hooks.example.com (expected a URL, or a template such as ${env.SLACK_WEBHOOK})',
  ],
  ['https://example.com/${var.key}', '${var.key}'],
  ['${env.}', '${env.}'],
])('a webhook may not be %s', (webhook, message) => {
  const checked = check(webhook);
  expect(checked.ok ? '' : checked.problems[0].message).toContain(message);
});
