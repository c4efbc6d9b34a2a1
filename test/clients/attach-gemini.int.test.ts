import { describeAttach } from './attach.cases.ts';
import { geminiCase, geminiInTerminal } from './gemini-under-test.ts';

describeAttach({
  client: geminiCase,
  env: geminiCase.env,
  setUp: () => {},
  ready: /Tipsforgettingstarted|Typeyourmessage/,
  ...geminiInTerminal,
  usedOutput: [14, 21],
});
