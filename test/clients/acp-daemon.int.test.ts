import { ACP_CASES } from './acp-under-test.ts';
import { describeFailures, describeRuns } from './daemon.cases.ts';

describeRuns(ACP_CASES);
describeFailures(ACP_CASES);
