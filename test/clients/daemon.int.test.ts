import { claudeCase } from './claude-under-test.ts';
import { codexCase } from './codex-under-test.ts';
import { describeFailures, describeRuns } from './daemon.cases.ts';
import { geminiCase } from './gemini-under-test.ts';
import { ownAgentCase } from './own-agent-under-test.ts';

describeRuns([claudeCase, codexCase, geminiCase, ownAgentCase]);
describeFailures([claudeCase, codexCase, geminiCase]);
