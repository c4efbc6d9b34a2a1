import { RPC, RpcError } from '../../acp/connection.ts';
import type { ApiError } from '../../api/answer.ts';
import { plainText } from './plain-text.ts';

/** Renders a daemon error for an editor: the message and the next step. */
export function toRpcError(error: ApiError): RpcError {
  const { code, message, hint, problems = [] } = error;
  const places = problems.slice(0, SHOWN_PROBLEMS).map(({ file, line, message: what }) => {
    return `${file}${line === null ? '' : `:${line}`}: ${what}`;
  });
  const words = [places.length > 0 ? places.join('\n') : message, hint].filter((text) => text !== '');
  // Not the code for a missing login, because an editor would then offer one.
  return new RpcError(RPC.invalidRequest, plainText(words.join('. ')), { code, hint: plainText(hint) });
}

const SHOWN_PROBLEMS = 5;
