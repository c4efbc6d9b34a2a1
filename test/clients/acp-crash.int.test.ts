import { ACP_CASES } from './acp-under-test.ts';
import { describeCrashes } from './crash.cases.ts';

describeCrashes(ACP_CASES);
