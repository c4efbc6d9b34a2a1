import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAttach } from './attach.cases.ts';
import { codexCase } from './codex-under-test.ts';

describeAttach({
  client: codexCase,
  env: () => ({ SCRIPTED_KEY: 'dummy' }),
  setUp: ({ home }, repository) => {
    const known = `
[projects."${repository}"]
trust_level = "trusted"
[tui]
screen_reader_detection_done = true
show_tooltips = false
`;
    appendFileSync(join(home, '.codex/config.toml'), known);
  },
  ready: /›|model:/,
  leave: '/quit',
  usedOutput: [14, 21],
});
