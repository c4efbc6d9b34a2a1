import { ACP_CASES } from './acp-under-test.ts';
import { describeLimits } from './limits.cases.ts';

describeLimits(ACP_CASES);
