import type { ApiError } from '../../api/answer.ts';
import type { agentReport } from '../../api/operations/supervisor-operations.ts';
import type { AgentObservation } from '../../state/runs/report-agent.ts';

type ReportInput = Extract<ReturnType<typeof agentReport.parse>, { ok: true }>['value'];

export type ParsedAgentReport =
  | { readonly ok: true; readonly value: AgentObservation }
  | { readonly ok: false; readonly error: ApiError };

/** A report as it was sent, as what was seen: each kind has fields of its own. */
export function parseAgentReport(input: ReportInput): ParsedAgentReport {
  const seen = parseReportKind(input);
  if (seen !== undefined) return { ok: true, value: seen };
  const message = `a report '${input.kind}' lacks something`;
  return { ok: false, error: { code: 'bad-request', message, hint: 'See AgentReport in src/supervisor/contract.ts.' } };
}

function parseReportKind(input: ReportInput): AgentObservation | undefined {
  const { kind, start, output = null } = input;
  switch (kind) {
    case 'started': {
      const { supervisor, process } = input;
      return start === undefined || supervisor === undefined || process === undefined
        ? undefined
        : { kind, start, supervisor, process };
    }
    case 'exited': {
      const { code = null, signal = null, timed_out = false, blocks_used = false } = input;
      return start === undefined ? undefined : { kind, start, code, signal, timed_out, blocks_used, output };
    }
    case 'attached':
      return start === undefined ? undefined : { kind, start, by: input.by ?? 'somebody' };
    case 'detached': {
      const { how = 'lost', talked = false } = input;
      return start === undefined ? undefined : { kind, start, how, talked };
    }
    case 'idle':
      return { kind, why: input.why ?? 'waiting' };
    case 'stop':
      return { kind };
    case 'blocked':
      return input.blocks === undefined ? undefined : { kind, blocks: input.blocks };
    case 'silent': {
      const { what, for_ms = 0, tool = null } = input;
      return start === undefined || what === undefined ? undefined : { kind, start, what, for_ms, tool };
    }
    case 'heard':
      return start === undefined ? undefined : { kind, start };
    case 'prompted':
      return { kind, prompt: input.prompt ?? '' };
    case 'used': {
      const { conversation_id = null, model = null, input_tokens = 0, output_tokens = 0, cached_tokens = 0 } = input;
      const { cost_millicents = null, turns = 0, waiting_tokens = 0 } = input;
      const tokens = { input_tokens, output_tokens, cached_tokens, waiting_tokens };
      const { open_input_tokens: openIn = 0, open_output_tokens: openOut = 0, open_cached_tokens: cached = 0 } = input;
      const open = { input: openIn, output: openOut, cached, lasting: input.unpriced_tokens ?? 0 };
      const { reserved_input_tokens: nextIn, reserved_output_tokens: nextOut = 0 } = input;
      const reserved = { input: nextIn ?? 0, output: nextOut, cached: input.reserved_cached_tokens ?? 0 };
      // An older supervisor sends neither, and expects each of its reports to be recorded.
      const isDue = input.is_due ?? nextIn === undefined;
      return { kind, conversation_id, model, ...tokens, cost_millicents, turns, open, reserved, isDue };
    }
    case 'errored': {
      const { error, message = '', reset_at = null } = input;
      return error === undefined ? undefined : { kind, error, message, reset_at };
    }
  }
}
