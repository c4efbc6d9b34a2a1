/** The code that the first content does not need, in one script. See `late-code.ts`. */
export { webVerifier } from '../../ledger/format/crypto.ts';
export { foldNext, restoreState } from '../model/folding.ts';
export { PastStates } from '../model/ledger/past-states.ts';
export { describePast } from '../model/ledger/past-view.ts';
export { computeView } from '../model/state-views.ts';
export { checkFile } from './check-file.ts';
export { Verifications } from './verifications.ts';
