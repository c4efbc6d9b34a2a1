import { writeStdout } from '../../../api/stdio.ts';
import type { Conversation } from '../conversation.ts';
import type { Used } from '../face.ts';
import type { PlanEntry } from '../plan.ts';

export interface ScriptedOutput {
  begin(sessionId: string): void;
  say(text: string): void;
  useTool(name: string, input: object): string;
  toolResult(id: string, content: string, isError: boolean): void;
  use(used: Used): void;
  plan(entries: readonly PlanEntry[]): void;
  enterMode(mode: string): void;
  endTurn(result: string, isError: boolean): void;
}

/** JSON lines with the fields of Claude Code that Baton reads. */
export function jsonOutput(sessionId: string): ScriptedOutput {
  let tools = 0;
  let messages = 0;
  let turn: Turn = NO_TURN;
  const print = (line: object): void => writeStdout(`${JSON.stringify({ ...line, session_id: sessionId })}\n`);
  const assistant = (block: object): void =>
    print({ type: 'assistant', message: { role: 'assistant', content: [block] }, parent_tool_use_id: null });
  const useTool = (name: string, input: object): string => {
    const id = `toolu_${(tools += 1)}`;
    assistant({ type: 'tool_use', id, name, input });
    return id;
  };
  const toolResult = (id: string, content: string, isError: boolean): void => {
    const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
    print({ type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null });
  };
  return {
    begin: () =>
      print({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: ['Bash', 'Write'], model: 'scripted' }),
    say: (text) => assistant({ type: 'text', text }),
    useTool,
    toolResult,
    plan: (entries) => {
      const todos = entries.map(({ content, status }) => ({ content, status, activeForm: content }));
      toolResult(useTool('TodoWrite', { todos }), '', false);
    },
    enterMode: (mode) => print({ type: 'system', subtype: 'status', status: null, permissionMode: mode }),
    use: ({ input = 0, output = 0, cached = 0, cost }) => {
      const usage = { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached };
      const id = `msg_${sessionId}_${(messages += 1)}`;
      print({ type: 'assistant', message: { id, role: 'assistant', content: [], usage }, parent_tool_use_id: null });
      turn = {
        ...turn,
        inputTokens: turn.inputTokens + input,
        outputTokens: turn.outputTokens + output,
        cacheReadInputTokens: turn.cacheReadInputTokens + cached,
        ...(cost === undefined ? {} : { costUSD: (turn.costUSD ?? 0) + Number(cost.replace('$', '')) }),
      };
    },
    endTurn: (result, isError) => {
      const subtype = isError ? 'error_during_execution' : 'success';
      const used = turn === NO_TURN ? {} : { model_usage_since_last_result: { scripted: turn } };
      print({ type: 'result', subtype, is_error: isError, result, ...used });
      turn = NO_TURN;
    },
  };
}

interface Turn {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly costUSD?: number;
}

const NO_TURN: Turn = { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 0 };

/** Output for a person who plays a script. */
export function textOutput(): ScriptedOutput {
  return {
    begin: () => {},
    say: (text) => writeStdout(`${text}\n`),
    useTool: (name, input) => {
      writeStdout(`> ${name} ${Object.values(input).map(String).join(' ').split('\n', 1)[0]}\n`);
      return '';
    },
    plan: (entries) => {
      for (const { content, status } of entries) writeStdout(`- ${content} (${status})\n`);
    },
    enterMode: (mode) => writeStdout(`(mode: ${mode})\n`),
    use: ({ input = 0, output = 0 }) => writeStdout(`(${input} tokens in, ${output} out)\n`),
    toolResult: (_, content) => writeStdout(content === '' || content.endsWith('\n') ? content : `${content}\n`),
    endTurn: (result, isError) =>
      writeStdout(isError ? `(the turn ended with an error: ${result})\n` : '(the turn ended)\n'),
  };
}

/** Output for a person who takes over: shows the earlier messages, and when to write. */
export function terminalOutput(before: Conversation['messages']): ScriptedOutput {
  const text = textOutput();
  return {
    ...text,
    begin: () => {
      for (const { from, text: said } of before) writeStdout(`${from === 'user' ? 'you' : 'agent'}: ${said}\n`);
      writeStdout(ASK);
    },
    endTurn: (result, isError) => {
      text.endTurn(result, isError);
      writeStdout(ASK);
    },
  };
}

const ASK = '(type a message; Ctrl-D leaves)\n> ';
