import { describeClient } from './client.cases.ts';
import { geminiCase } from './gemini-under-test.ts';

describeClient(geminiCase);
