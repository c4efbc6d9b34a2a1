import { readFileSync } from 'node:fs';
import { parseResult } from '../../protocol/result.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import { quoteForShell } from '../../protocol/text/quote-for-shell.ts';
import { parseThoughtRecord } from '../../protocol/thought-record.ts';
import type { ScriptStep } from './steps.ts';

/** What a step does as a tool call. The kinds are those of ACP. */
export type ToolCall =
  | { readonly kind: 'execute'; readonly command: string }
  | { readonly kind: 'edit'; readonly path: string; readonly text: string }
  | { readonly kind: 'read'; readonly path: string }
  /** A tool of Baton's MCP server, with its content inline. */
  | { readonly kind: 'baton'; readonly tool: string; readonly input: object };

export interface ToolResult {
  readonly output: string;
  readonly isError: boolean;
}

export function findTool(step: ScriptStep, agentId: string): ToolCall | undefined {
  // Only the tool calls of a judge's own client count as its verdict.
  return (process.env['BATON_JUDGE'] === '1' ? findBatonTool(step) : undefined) ?? findShellTool(step, agentId);
}

function findBatonTool(step: ScriptStep): ToolCall | undefined {
  switch (step.do) {
    case 'signal':
      return callOf('agent_signal', step.with);
    case 'exit':
      return callOf('exit_signal', exitSignal(step.with));
    case 'handoff':
      return callOf('handoff_send', { handoff: readText(step.with) });
    case 'thought':
      return callOf('thought_record', valueIn(parseThoughtRecord(readText(step.with))));
    case 'result':
      return callOf('result_submit', valueIn(parseResult(readText(step.with))));
    default:
      return undefined;
  }
}

function callOf(tool: string, input: object): ToolCall {
  return { kind: 'baton', tool, input };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** An invalid message is sent as it is, and Baton's refusal says what is wrong with it. */
function valueIn(parsed: Parsed<object>): object {
  return parsed.ok ? parsed.value : {};
}

function findShellTool(step: ScriptStep, agentId: string): ToolCall | undefined {
  switch (step.do) {
    case 'run':
      return execute(step.with);
    case 'write':
      return { kind: 'edit', ...step.with };
    case 'read':
      return { kind: 'read', path: step.with };
    case 'commit':
      return execute(`git add --all && git ${AUTHOR} commit --quiet --message ${quoteForShell(step.with)}`);
    case 'signal':
      return execute(
        `baton emit agent:signal --agent ${quoteForShell(agentId)} ${quoteForShell(JSON.stringify(step.with))}`,
      );
    case 'exit':
      return execute(`baton emit exit ${quoteForShell(JSON.stringify(exitSignal(step.with)))}`);
    case 'handoff':
      return execute(`baton handoff send ${quoteForShell(step.with)}`);
    case 'thought':
      return execute(`baton thought record ${quoteForShell(step.with)}`);
    case 'result':
      return execute(`baton result submit ${quoteForShell(step.with)}`);
    default:
      return undefined;
  }
}

function execute(command: string): ToolCall {
  return { kind: 'execute', command };
}

/** Sets an author, because the machine may have no git identity. */
const AUTHOR = `-c user.name='Scripted agent' -c user.email=scripted@localhost`;

function exitSignal({
  phase,
  reason = 'completed',
  notes,
  pr_url,
  evidence,
}: Extract<ScriptStep, { do: 'exit' }>['with']): object {
  const signal = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: phase, exit_reason: reason };
  return { ...signal, notes, pr_url, evidence_bundle_ref: evidence };
}
