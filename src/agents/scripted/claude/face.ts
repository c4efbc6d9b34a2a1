import type { ApiError, Face, StepOutcome, StopOutcome } from '../face.ts';
import { misbehave } from '../misbehave.ts';
import { runTool } from '../run-tool.ts';
import type { ToolCall } from '../tools.ts';
import type { FireHooks } from './hooks.ts';
import type { ScriptedInput } from './input.ts';
import type { ScriptedOutput } from './output.ts';

export interface ClaudeFaceOptions {
  readonly sessionId: string;
  readonly output: ScriptedOutput;
  readonly input: ScriptedInput;
  readonly fire: FireHooks;
  /** How many blocks in a row are accepted; null for no limit. */
  readonly blockCap: number | null;
}

/** Plays a script like Claude Code: asks its hooks before it stops, then waits for a message on standard input. */
export function claudeFace({ sessionId, output, input, fire, blockCap }: ClaudeFaceOptions): Face {
  let blocks = 0;
  let isHookActive = false;

  async function useTool(tool: ToolCall): Promise<StepOutcome> {
    const [name, given] = claudeTool(tool);
    const id = output.useTool(name, given);
    const before = await fire('PreToolUse', { tool_name: name, tool_input: given, tool_use_id: id });
    if (before.kind === 'end') {
      output.endTurn('', false);
      return 'turn over';
    }
    const { output: printed, isError } = await runTool(tool, process.cwd());
    output.toolResult(id, printed, isError);
    // A tool call resets the count of blocks in a row.
    blocks = 0;
    await fire('PostToolUse', { tool_name: name, tool_input: given, tool_use_id: id, tool_response: printed });
    return 'continues';
  }

  async function stop(lastWords: string): Promise<StopOutcome> {
    const answer = await fire('Stop', {
      effort: { level: 'high' },
      stop_hook_active: isHookActive,
      last_assistant_message: lastWords,
      background_tasks: [],
      session_crons: [],
    });
    const isOverridden = answer.kind === 'block' && blockCap !== null && blocks >= blockCap;
    if (answer.kind === 'block' && !isOverridden) {
      blocks += 1;
      isHookActive = true;
      return { kind: 'blocked', reason: answer.reason };
    }
    output.endTurn(isOverridden ? '' : lastWords, false);
    return { kind: answer.kind === 'end' ? 'the end' : 'turn over' };
  }

  return {
    begin: () => output.begin(sessionId),
    say: (text) => output.say(text),
    use: (used) => output.use(used),
    plan: (entries) => output.plan(entries),
    enterMode: (mode) => output.enterMode(mode),
    useTool,
    async ask(question) {
      await fire('Notification', { notification_type: 'permission_prompt', message: question });
      return 'by message';
    },
    stop,
    /** An API error ends the turn without a stop hook. The client reports it to its hooks and waits. */
    async fail({ kind, message = kind, reset_at }: ApiError) {
      const until = reset_at === undefined ? {} : { reset_at };
      await fire('StopFailure', { error: kind, error_details: message, ...until });
      output.endTurn(message, true);
    },
    /** A new message resets the count of blocks. */
    async receive() {
      const message = await input.next();
      blocks = 0;
      isHookActive = false;
      return message;
    },
    misbehave,
    checkTurn: async () => 'continues',
  };
}

/** The Claude Code tool for this call, and its input. */
function claudeTool(tool: ToolCall): readonly [name: string, input: object] {
  switch (tool.kind) {
    case 'execute':
      return ['Bash', { command: tool.command }];
    case 'edit':
      return ['Write', { file_path: tool.path, content: tool.text }];
    case 'baton':
      return [`mcp__baton__${tool.tool}`, tool.input];
    case 'read':
      return ['Read', { file_path: tool.path }];
  }
}
