import { claudeCase } from './claude-under-test.ts';
import { describeClient } from './client.cases.ts';

describeClient(claudeCase);
