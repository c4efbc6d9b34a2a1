import { describeClient } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';

describeClient(codexCase);
