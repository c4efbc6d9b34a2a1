import { RPC, RpcError } from '../../../acp/connection.ts';
import { textBlock, type ToolCallParts } from '../../../acp/messages.ts';
import type { AgentError } from '../../../protocol/run-plan.ts';
import type { ConversationFile } from '../conversation.ts';
import type { ApiError, Face, StepOutcome, Used } from '../face.ts';
import { runTool } from '../run-tool.ts';
import type { Script } from '../script.ts';
import type { ToolCall } from '../tools.ts';
import type { AcpClient } from './client.ts';
import { canClientRun, runInClient } from './client-tools.ts';
import { misbehaveInAcp } from './hostile.ts';
import { askPermission, type Permission } from './permission.ts';
import type { AcpSession } from './session.ts';
import { DEFAULT_MODE } from './session-options.ts';
import { describeResult, describeTool } from './tool-call.ts';

export interface AcpFaceOptions {
  readonly session: AcpSession;
  readonly client: AcpClient;
  readonly script: Pick<Script, 'tools' | 'permissions'>;
  readonly conversation: ConversationFile;
}

/** Plays a script as an ACP agent. A turn is the answer to a prompt; the client decides whether another one follows. */
export function acpFace({ session, client, script, conversation }: AcpFaceOptions): Face {
  let toolCalls = 0;
  let costDollars: number | undefined;
  let isAlwaysAllowed = false;

  function checkTurn(): StepOutcome {
    if (!session.signal.aborted) return 'continues';
    session.endTurn('cancelled');
    return 'turn over';
  }

  function use(used: Used): void {
    const { input = 0, output = 0, cached = 0, cost } = used;
    session.use(used);
    if (cost !== undefined) costDollars = (costDollars ?? 0) + Number(cost.replace('$', ''));
    const priced = costDollars === undefined ? {} : { cost: { amount: costDollars, currency: 'USD' } };
    client.update({ sessionUpdate: 'usage_update', used: input + output + cached, size: CONTEXT_TOKENS, ...priced });
  }

  function newCallId(): string {
    return `call_${(toolCalls += 1)}`;
  }

  async function askClient(call: ToolCallParts): Promise<Permission> {
    const permission = await askPermission(client, call, session.signal);
    if (permission !== 'cancelled') return permission;
    // This answer means that the client has cancelled the turn. The notification may arrive later.
    session.cancel();
    return { kind: 'none', answer: 'cancelled' };
  }

  async function mayRun(call: ToolCallParts): Promise<boolean> {
    if (script.permissions === 'none' || session.mode !== DEFAULT_MODE || isAlwaysAllowed) return true;
    const { kind } = await askClient(call);
    isAlwaysAllowed = kind === 'allow_always';
    return isAlwaysAllowed || kind === 'allow_once';
  }

  async function useTool(tool: ToolCall): Promise<StepOutcome> {
    const call = describeTool(newCallId(), tool, session.cwd);
    const { toolCallId } = call;
    const report = (parts: ToolCallParts): void => client.update({ sessionUpdate: 'tool_call_update', ...parts });
    client.update({ sessionUpdate: 'tool_call', status: 'pending', ...call });
    if (!(await mayRun(call))) {
      report(describeResult(call, { output: 'not permitted', isError: true }));
      return checkTurn();
    }
    report({ toolCallId, status: 'in_progress' });
    const { cwd, signal } = session;
    const onTerminal = (terminalId: string): void =>
      report({ toolCallId, content: [{ type: 'terminal', terminalId }] });
    const result =
      script.tools === 'client' && canClientRun(tool, client)
        ? await runInClient(tool, { client, cwd, signal, onTerminal })
        : await runTool(tool, cwd, signal);
    report(describeResult(call, result));
    return checkTurn();
  }

  async function ask(question: string): Promise<StepOutcome> {
    const call = { toolCallId: newCallId(), title: question, kind: 'other' } as const;
    client.update({ sessionUpdate: 'tool_call', status: 'pending', ...call });
    const { kind, answer } = await askClient(call);
    conversation.add('user', `${question} ${answer}`);
    const isAllowed = kind === 'allow_once' || kind === 'allow_always';
    client.update({
      sessionUpdate: 'tool_call_update',
      ...describeResult(call, { output: answer, isError: !isAllowed }),
    });
    return checkTurn();
  }

  return {
    begin: () => {},
    say: (text) => client.update({ sessionUpdate: 'agent_message_chunk', content: textBlock(text) }),
    use,
    plan: (entries) => client.update({ sessionUpdate: 'plan', entries }),
    enterMode: (mode) => {
      session.mode = mode;
      client.update({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    },
    useTool,
    ask,
    async stop() {
      if (checkTurn() === 'turn over') return { kind: 'turn over' };
      session.endTurn('end_turn');
      const message = await session.nextMessage();
      return message === undefined ? { kind: 'the end' } : { kind: 'prompted', message };
    },
    fail: async (error) => session.failTurn(rpcErrorOf(error)),
    async misbehave(step) {
      const outcome = await misbehaveInAcp(step, session, client);
      return outcome === 'continues' ? checkTurn() : outcome;
    },
    receive: async () => session.nextMessage(),
    checkTurn: async () => checkTurn(),
  };
}

const CONTEXT_TOKENS = 200_000;

function rpcErrorOf({ kind, message = kind, reset_at }: ApiError): RpcError {
  const code = kind === 'unauthorized' ? RPC.authRequired : RPC.internalError;
  const until = reset_at === undefined ? {} : { resetAt: reset_at };
  return new RpcError(code, message, { errorKind: ERROR_KINDS[kind], ...until });
}

const ERROR_KINDS: Readonly<Record<AgentError, string>> = {
  unauthorized: 'unauthorized',
  out_of_credits: 'billing',
  no_internet: 'server_error',
  rate_limited: 'rate_limit',
};
