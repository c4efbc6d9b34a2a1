import { qwenCase } from './acp-under-test.ts';
import { describeClient } from './client.cases.ts';

describeClient(qwenCase);
