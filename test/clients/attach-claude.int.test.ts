import { describeAttach } from './attach.cases.ts';
import { claudeCase, claudeInTerminal } from './claude-under-test.ts';

const { env, know, ready, leave } = claudeInTerminal;

describeAttach({
  client: claudeCase,
  env,
  setUp: ({ home }, repository) => know(home, repository),
  ready,
  leave,
  usedOutput: [14, 21],
});
