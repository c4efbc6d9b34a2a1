import { describeBounds } from './bounded.cases.ts';
import { claudeCase } from './claude-under-test.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';

describeBounds([claudeCase, codexCase, geminiCase]);
