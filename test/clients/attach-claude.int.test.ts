import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAttach } from './attach.cases.ts';
import { claudeCase } from './claude-under-test.ts';

const KEY = 'dummy-key-00000000000000000000';

describeAttach({
  client: claudeCase,
  env: ({ model, temporary }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_TMPDIR: temporary,
    DISABLE_AUTOUPDATER: '1',
  }),
  setUp: ({ home }, repository) => {
    const known = {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [repository]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(known, null, 2));
  },
  ready: /\?forshortcuts|❯/,
  leave: '/exit',
  usedOutput: [14, 21],
});
