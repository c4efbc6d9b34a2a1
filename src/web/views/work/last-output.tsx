import { useApi } from '../../app/hub-client.ts';
import type { Loaded } from '../../hub/messages.ts';
import { Age } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';
import { stripTerminalCodes } from '../../../protocol/text/terminal-codes.ts';
import type { ResultOf } from '../../../api/operations/registry.ts';

type LastOutput = Loaded<ResultOf<'agent_log'>>;

/** How often a row on the screen requests the last output. */
const EVERY_MS = 4000;

/**
 * The last line that an agent printed, and its time. Sends no request if undefined: only running rows on the screen do.
 */
export function useLastOutput(agentId: string | undefined): LastOutput {
  return useApi('agent_log', agentId === undefined ? undefined : { id: agentId, to_lines: 1 }, { everyMs: EVERY_MS });
}

export function LastLine({ output, fallback }: { readonly output: LastOutput; readonly fallback: string | null }) {
  const text = output.value === undefined ? fallback : stripTerminalCodes(output.value.text).trim().split('\n').at(-1);
  return <Words text={text} most={300} />;
}

/** The time since the agent last printed output. */
export function Heard({ output: { value } }: { readonly output: LastOutput }) {
  if (value === undefined || value.printed_at === null) return <span class="dim">–</span>;
  return (
    <>
      <span class="sr">last output </span>
      <Age at={value.printed_at} suffix=" ago" />
    </>
  );
}
