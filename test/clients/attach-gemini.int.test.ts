import { describeAttach } from './attach.cases.ts';
import { geminiCase } from './gemini-under-test.ts';

describeAttach({
  client: geminiCase,
  env: geminiCase.env,
  setUp: () => {},
  ready: /Tipsforgettingstarted|Typeyourmessage/,
  leave: '/quit',
  usedOutput: [14, 21],
});
