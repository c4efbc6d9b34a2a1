import { claudeCase } from './claude-under-test.ts';
import { codexCase } from './codex-under-test.ts';
import { describeCrashes } from './crash.cases.ts';
import { geminiCase } from './gemini-under-test.ts';

describeCrashes([claudeCase, codexCase, geminiCase]);
