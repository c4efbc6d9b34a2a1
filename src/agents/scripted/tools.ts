import { quoteForShell } from '../../protocol/text/quote-for-shell.ts';
import type { ScriptStep } from './steps.ts';

/** What a step does as a tool call. The kinds are those of ACP. */
export type ToolCall =
  | { readonly kind: 'execute'; readonly command: string }
  | { readonly kind: 'edit'; readonly path: string; readonly text: string }
  | { readonly kind: 'read'; readonly path: string };

export function findTool(step: ScriptStep, agentId: string): ToolCall | undefined {
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
