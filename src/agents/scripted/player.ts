import { setTimeout as pause } from 'node:timers/promises';
import type { ConversationFile, ScriptedInput, ScriptedOutput } from './conversation.ts';
import type { FireHooks } from './hooks.ts';
import type { Script, ScriptStep } from './script.ts';
import { findTool, misbehave, type ToolCall } from './tools.ts';

export interface PlayerOptions {
  readonly script: Script;
  readonly agentId: string;
  readonly output: ScriptedOutput;
  readonly input: ScriptedInput;
  readonly fire: FireHooks;
  readonly conversation: ConversationFile;
  /** Blocks in a row that are honoured; null for any number. */
  readonly blockCap: number | null;
  /** The first turn starts with a message. */
  readonly isPrompted: boolean;
}

type StepOutcome = 'continues' | 'turn over' | 'the end';

/** Plays as Claude Code works: asks its hooks before it stops, then waits for a message. Resolves to the exit code. */
export class ScriptPlayer {
  readonly #options: PlayerOptions;
  #blocks = 0;
  #isHookActive = false;
  #lastWords = '';
  #code = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  async play(): Promise<number> {
    this.#options.output.begin(this.#options.conversation.now.id);
    if (this.#options.isPrompted && !(await this.#receive())) return 0;
    for (;;) {
      if ((await this.#playTurn()) === 'the end' || !(await this.#receive())) return this.#code;
    }
  }

  /** Plays from the current step until the agent may stop. After the last step only `on_message` steps follow. */
  async #playTurn(): Promise<StepOutcome> {
    const { script, conversation } = this.#options;
    const { steps, onMessage } = script;
    if (conversation.now.position >= steps.length && conversation.now.messages.at(-1)?.from === 'user') {
      const after = await this.#playAll(onMessage);
      if (after !== 'continues') return after;
    }
    while (conversation.now.position < steps.length) {
      const step = steps[conversation.now.position];
      conversation.begin(conversation.now.position + 1);
      const after = step === undefined ? 'continues' : await this.#do(step);
      if (after !== 'continues') return after;
    }
    return this.#stop(true);
  }

  async #playAll(steps: readonly ScriptStep[]): Promise<StepOutcome> {
    for (const step of steps) {
      const after = await this.#do(step);
      if (after !== 'continues') return after;
    }
    return 'continues';
  }

  async #do(step: ScriptStep): Promise<StepOutcome> {
    const tool = findTool(step, this.#options.agentId);
    if (tool !== undefined) return this.#useTool(tool);
    const misbehaved = await misbehave(step);
    if (misbehaved !== undefined) return misbehaved;
    switch (step.do) {
      case 'say':
        return this.#say(step.with);
      case 'use':
        this.#options.output.use(step.with);
        return 'continues';
      case 'stop':
        return this.#stop(false);
      case 'wait':
        return (await this.#receive()) ? 'continues' : 'the end';
      case 'ask':
        return this.#ask(step.with);
      case 'error':
        return this.#fail(step.with);
      default:
        throw new Error(`a script cannot ${step.do}`);
    }
  }

  #say(text: string): StepOutcome {
    const { output, conversation } = this.#options;
    this.#lastWords = text;
    output.say(text);
    conversation.add('agent', text);
    return 'continues';
  }

  async #useTool({ name, input, run }: ToolCall): Promise<StepOutcome> {
    const { output, fire } = this.#options;
    const id = output.useTool(name, input);
    const before = await fire('PreToolUse', { tool_name: name, tool_input: input, tool_use_id: id });
    if (before.kind === 'end') {
      output.endTurn('', false);
      return 'turn over';
    }
    const { output: printed, isError } = await run();
    output.toolResult(id, printed, isError);
    // A tool call resets the count of blocks in a row.
    this.#blocks = 0;
    await fire('PostToolUse', { tool_name: name, tool_input: input, tool_use_id: id, tool_response: printed });
    return 'continues';
  }

  /** If the stop is blocked, plays the `on_block` steps and tries again; without these, continues after the stop. */
  async #stop(isLast: boolean): Promise<StepOutcome> {
    const { output, script } = this.#options;
    for (;;) {
      const asked = await this.#askToStop();
      if (asked !== 'blocked') {
        output.endTurn(asked === 'overridden' ? '' : this.#lastWords, false);
        return asked === 'ended' ? 'the end' : 'turn over';
      }
      if (script.onBlock === undefined && !isLast) return 'continues';
      // A model takes time too, even to repeat itself.
      if (script.onBlock === undefined) await pause(20);
      const after = await this.#playAll(script.onBlock ?? []);
      if (after !== 'continues') return after;
    }
  }

  async #askToStop(): Promise<'allowed' | 'blocked' | 'overridden' | 'ended'> {
    const { fire, blockCap, conversation } = this.#options;
    const answer = await fire('Stop', {
      effort: { level: 'high' },
      stop_hook_active: this.#isHookActive,
      last_assistant_message: this.#lastWords,
      background_tasks: [],
      session_crons: [],
    });
    if (answer.kind !== 'block') return answer.kind === 'end' ? 'ended' : 'allowed';
    if (blockCap !== null && this.#blocks >= blockCap) return 'overridden';
    this.#blocks += 1;
    this.#isHookActive = true;
    conversation.add('user', `Stop hook feedback:\n${answer.reason}`);
    return 'blocked';
  }

  async #ask(prompt: string): Promise<StepOutcome> {
    await this.#options.fire('Notification', { notification_type: 'permission_prompt', message: prompt });
    return (await this.#receive()) ? 'continues' : 'the end';
  }

  /** An API error ends the turn without a stop hook; the client reports it to its hooks and waits. */
  async #fail({ kind, message = kind, reset_at }: Extract<ScriptStep, { do: 'error' }>['with']): Promise<StepOutcome> {
    const { fire, output } = this.#options;
    await fire('StopFailure', { error: kind, error_details: message, ...(reset_at === undefined ? {} : { reset_at }) });
    output.endTurn(message, true);
    this.#code = 1;
    return 'turn over';
  }

  /** A new message resets the count of blocks. Returns false if none will follow. */
  async #receive(): Promise<boolean> {
    const message = await this.#options.input.next();
    if (message === undefined) return false;
    this.#options.conversation.add('user', message);
    this.#blocks = 0;
    this.#isHookActive = false;
    this.#code = 0;
    return true;
  }
}
