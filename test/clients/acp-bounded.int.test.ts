import { ACP_CASES } from './acp-under-test.ts';
import { describeBounds } from './bounded.cases.ts';

describeBounds(ACP_CASES);
